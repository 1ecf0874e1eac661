import assert from 'node:assert/strict';
import { basename } from 'node:path';
import { test } from 'node:test';
import { listDeployYaml, deployPath } from '../../../support/deploy-files.ts';
import { isInstalled, PROMETHEUS_VERSIONS } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';

const ruleFiles = listDeployYaml('prometheus/rules').map(deployPath);
const unitTests = listDeployYaml('prometheus/tests').map(deployPath);

for (const { version, promtool } of PROMETHEUS_VERSIONS) {
  test(`promtool of the ${version} Prometheus accepts the rules with every lint`, async (t) => {
    if (!isInstalled(t, promtool)) return;
    const args = ['check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles];
    const output = await runPromtool(args, { promtool });
    assert.equal(output.match(/SUCCESS: \d+ rules found/g)?.length, ruleFiles.length, output);
  });
}

for (const name of ['prometheus.yml', 'prometheus-sd.yml', 'prometheus-shards.yml']) {
  test(`promtool accepts ${name} and finds its rule files`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    const output = await runPromtool(['check', 'config', deployPath(`prometheus/${name}`)]);
    assert.match(output, new RegExp(`SUCCESS: ${ruleFiles.length} rule files found`));
  });
}

// Those of the newest are in test/long.
for (const file of unitTests) {
  test(`promtool of the oldest Prometheus passes the unit tests of ${basename(file)}`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    assert.match(await runPromtool(['test', 'rules', file]), /SUCCESS/);
  });
}
