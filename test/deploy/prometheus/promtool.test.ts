import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { readDeployFile, listDeployYaml, deployPath, readAlertRules } from '../../support/deploy-files.ts';
import { isInstalled } from '../../support/installed-programs.ts';

const run = promisify(execFile);
const ruleFiles = listDeployYaml('prometheus/rules').map(deployPath);
const unitTests = listDeployYaml('prometheus/tests').map(deployPath);

/** What promtool says, of a run that has to end with 0. */
async function runPromtool(args: readonly string[], cwd?: string): Promise<string> {
  const { stdout, stderr } = await run('promtool', args, cwd === undefined ? {} : { cwd });
  return stdout + stderr;
}

test('promtool has no complaint about the rules, with every lint', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const said = await runPromtool(['check', 'rules', '--lint=all', '--lint-fatal', ...ruleFiles]);
  assert.equal(said.match(/SUCCESS: \d+ rules found/g)?.length, ruleFiles.length, said);
});

for (const name of ['prometheus.yml', 'prometheus-sd.yml', 'prometheus-shards.yml']) {
  test(`promtool has no complaint about ${name}, which finds the rules`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    const said = await runPromtool(['check', 'config', deployPath(`prometheus/${name}`)]);
    assert.match(said, new RegExp(`SUCCESS: ${ruleFiles.length} rule files found`));
  });
}

for (const file of unitTests) {
  test(`promtool passes the unit tests of ${basename(file)}`, async (t) => {
    if (!isInstalled(t, 'promtool')) return;
    assert.match(await runPromtool(['test', 'rules', file]), /SUCCESS/);
  });
}

/** A copy of what is shipped for Prometheus. */
function copyDeployFolder(): Disposable & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'xvs-rules-'));
  cpSync(deployPath('prometheus'), folder, { recursive: true });
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true }) };
}

test('the unit tests still pass after the commands that README.md gives to adapt the rules', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  const commands = readDeployFile('prometheus/README.md').match(/^sed -i .*$/gm) ?? [];
  assert.equal(commands.length, 2);
  using copy = copyDeployFolder();
  for (const command of commands) await run('sh', ['-c', command], { cwd: copy.folder });
  const alerts = readFileSync(join(copy.folder, 'rules/alerts.yml'), 'utf8');
  assert.doesNotMatch(alerts, /job="xvs-exporter"|: https:\/\/example\.com/);
  for (const file of ['tests/exporter.yml', 'tests/discovery.yml'])
    assert.match(await runPromtool(['test', 'rules', file], copy.folder), /SUCCESS/);
});

const alertsWithKeepFiring: readonly (readonly [string, readonly string[]])[] = [
  ['api.yml', ['XvsApiDown', 'XvsApiDownMajority']],
  ['exporter.yml', ['XvsServiceCodesDropped']],
  ['ingest.yml', ['XvsIngestStalled']],
  ['tasks.yml', ['XvsTasksDropped', 'XvsUsersDropped']],
];

test('without keep_firing_for, the unit tests fail of each alert that has it', async (t) => {
  if (!isInstalled(t, 'promtool')) return;
  using copy = copyDeployFolder();
  const path = join(copy.folder, 'rules/alerts.yml');
  const alerts = readFileSync(path, 'utf8');
  writeFileSync(path, alerts.replaceAll(/^ *keep_firing_for: .*\n/gm, ''));
  for (const [file, names] of alertsWithKeepFiring) {
    const failed = runPromtool(['test', 'rules', `tests/${file}`], copy.folder);
    await assert.rejects(failed, ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      const failing = new Set((stdout + stderr).match(/(?<=alertname: )\w+/g));
      assert.deepEqual([...failing].toSorted(), names);
      return true;
    });
  }
  const keeping = readAlertRules().filter((rule) => rule.keep_firing_for !== undefined);
  assert.deepEqual(
    keeping.map(({ alert }) => alert).toSorted(),
    alertsWithKeepFiring.flatMap(([, names]) => names).toSorted(),
  );
});
