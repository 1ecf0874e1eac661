import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { deployPath, readAlertRules, readDeployFile } from '../../../support/deploy-files.ts';
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

const ALERTS_WITH_KEEP_FIRING: readonly (readonly [string, readonly string[]])[] = [
  ['api.yml', ['XvsApiDown', 'XvsApiDownMajority']],
  ['exporter.yml', ['XvsServiceCodesDropped']],
  ['ingest.yml', ['XvsIngestStalled']],
  ['tasks.yml', ['XvsTasksDropped', 'XvsUsersDropped']],
];

test('without keep_firing_for, the unit tests of each alert that has it fail', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  using copy = copyDeployFolder();
  const alerts = copy.at('rules/alerts.yml');
  writeFileSync(alerts, readFileSync(alerts, 'utf8').replaceAll(/^ *keep_firing_for: .*\n/gm, ''));
  for (const [file, names] of ALERTS_WITH_KEEP_FIRING) {
    const failed = runPromtool(['test', 'rules', `tests/${file}`], { cwd: copy.path });
    await assert.rejects(failed, ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      const failing = new Set((stdout + stderr).match(/(?<=alertname: )\w+/g));
      assert.deepEqual([...failing].toSorted(), names);
      return true;
    });
  }
  const keeping = readAlertRules().filter((rule) => rule.keep_firing_for !== undefined);
  assert.deepEqual(
    keeping.map(({ alert }) => alert).toSorted(),
    ALERTS_WITH_KEEP_FIRING.flatMap(([, names]) => names).toSorted(),
  );
});
