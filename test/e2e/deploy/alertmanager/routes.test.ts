import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { deployPath } from '../../../support/deploy-files.ts';
import { isInstalled } from '../../../support/installed-programs.ts';

const config = deployPath('alertmanager/alertmanager.yml');

function runAmtool(args: readonly string[]) {
  return spawnSync('amtool', args, { encoding: 'utf8', env: { PATH: process.env['PATH'] } });
}

test('amtool accepts alertmanager.yml', (t) => {
  if (!isInstalled(t, 'amtool')) return;
  const { status, stdout, stderr } = runAmtool(['check-config', config]);
  assert.equal(status, 0, stdout + stderr);
  assert.match(stdout, /SUCCESS/);
});

const routes: readonly (readonly [labels: readonly string[], receiver: string])[] = [
  [['severity=critical', 'service_code=A'], 'critical'],
  [['severity=warning', 'service_code=A'], 'warning'],
  [['severity=info', 'service_code=A'], 'info'],
  [['alertname=Foreign'], 'warning'],
];

for (const [labels, receiver] of routes) {
  test(`an alert with ${labels.join(', ')} goes to ${receiver}`, (t) => {
    if (!isInstalled(t, 'amtool')) return;
    const args = ['config', 'routes', 'test', `--config.file=${config}`, `--verify.receivers=${receiver}`];
    const { status, stdout, stderr } = runAmtool([...args, ...labels]);
    assert.equal(status, 0, stdout + stderr);
  });
}
