import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deployPath, readDeployFile } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';
import { runPromtool } from '../../../support/promtool.ts';
import { TemporaryFolder } from '../../../support/temporary-folder.ts';

function copyDeployFolder(): TemporaryFolder {
  const copy = new TemporaryFolder();
  cpSync(deployPath('prometheus'), copy.path, { recursive: true });
  return copy;
}

test('the unit tests pass after the commands of README.md that adapt the rules', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const commands = readDeployFile('prometheus/README.md').match(/^sed -i .*$/gm) ?? [];
  assert.equal(commands.length, 2);
  using copy = copyDeployFolder();
  for (const command of commands) execFileSync('sh', ['-c', command], { cwd: copy.path });
  const alerts = readFileSync(copy.at('rules/alerts.yml'), 'utf8');
  assert.doesNotMatch(alerts, /job="xvs-exporter"|: https:\/\/example\.com/);
  for (const file of ['tests/exporter.yml', 'tests/discovery.yml'])
    assert.match(await runPromtool(['test', 'rules', file], { cwd: copy.path }), /SUCCESS/);
});
