import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { listDeployYaml, deployPath } from '../../../support/deploy-files.ts';
import { isInstalled, NEWEST_PROMTOOL } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';

for (const file of listDeployYaml('prometheus/tests').map(deployPath)) {
  test(`promtool of the newest Prometheus passes the unit tests of ${basename(file)}`, async (t) => {
    if (!isInstalled(t, NEWEST_PROMTOOL)) return;
    assert.match(await runPromtool(['test', 'rules', file], { promtool: NEWEST_PROMTOOL }), /SUCCESS/);
  });
}
