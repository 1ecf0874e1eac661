import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram, type Program } from '../../support/program.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitForValue } from '../../support/wait-until.ts';
import { RunningExporter } from './running-exporter.ts';

const CODES = ['STAYS:secret-of-one', 'GOES:secret-of-two', 'COMES:secret-of-three'];

function startSimulator(): Program {
  const codes = CODES.map((code) => `--service-code=${code}`);
  return startSimulatorProgram('--tasks=12', '--users=20', ...codes);
}

/** A configuration file with settings for each service code. */
function createConfiguration(url: string, codes: Readonly<Record<string, string>>, more = ''): string {
  const entries = Object.entries(codes).map(
    ([code, settings]) => `  - { service_code: ${code}, ${settings} }`,
  );
  return `upstream: { base_url: "${url}" }\npoll: { interval: 1s }\nservice_codes:\n${entries.join('\n')}\n${more}`;
}

const STAYS = { STAYS: 'secret_file: one' };
const GOES = { GOES: 'secret_file: two' };
const COMES = { COMES: 'secret: secret-of-three, interval: 1h' };

test('service codes are added, changed and removed at run time, and an unchanged one keeps its counters', async () => {
  using folder = new TemporaryFolder();
  await using simulator = startSimulator();
  const url = await simulator.waitForUrl();
  const write = (codes: Readonly<Record<string, string>>, more?: string): void =>
    folder.replace('config.yml', createConfiguration(url, codes, more));
  folder.replace('one', 'secret-of-one\n');
  folder.replace('two', 'the-wrong-one\n');
  write({ ...STAYS, ...GOES });
  const flags = [`--config.file=${folder.at('config.yml')}`, '--web.listen-address=127.0.0.1:0'];
  await using program = startProgram([...flags, '--web.enable-lifecycle']);
  const exporter = await RunningExporter.attach(program);
  await exporter.waitUntilUp('STAYS');
  await waitForValue(() => exporter.sumFamily('xvs_ret', 'GOES'), 1005);
  const started = await exporter.sumFamily('xvs_exporter_polls_total', 'STAYS');

  // Rotate a secret and reload by signal.
  folder.replace('two', 'secret-of-two\n');
  program.signal('SIGHUP');
  const rotated = await exporter.waitForLog(/\{[^{]*"msg":"Configuration reloaded"\}/);
  assert.match(rotated, /"trigger":"signal","added":0,"changed":1,"kept":1,"removed":0/);
  await exporter.waitUntilUp('GOES');

  // Add a code. Its interval is an hour, so that only its first poll runs.
  write({ ...STAYS, ...GOES, ...COMES });
  assert.deepEqual(await exporter.reload(), [200, 'xvs-exporter has reloaded its configuration.\n']);
  await exporter.waitUntilUp('COMES');
  assert.equal(await exporter.fetchStatus('/-/ready'), 200);

  // Remove a code with all its series.
  write({ ...STAYS, ...COMES });
  assert.equal((await exporter.reload())[0], 200);
  assert.doesNotMatch(await exporter.fetchMetrics(), /service_code="GOES"/);
  assert.equal(await exporter.fetchStatus('/metrics?service_code=GOES'), 404);

  // An invalid file changes nothing.
  const loaded = await exporter.sumFamily('xvs_exporter_config_last_reload_success_timestamp_seconds');
  write({ ...STAYS, ...GOES, WRONG: 'secret: [secret-that-is-a-list]' });
  await exporter.waitForLog(/removed":1,"msg":"Configuration reloaded/);
  assert.deepEqual(await exporter.reload(), [500, 'Reload failed; the log has the details.\n']);
  await exporter.waitForLog(
    /"level":"error".*"trigger":"request".*config\.yml:6:36 service_codes\[2\]\.secret: expected a secret .*, found a list"\},"msg":"Configuration reload failed"/,
  );
  assert.equal(await exporter.sumFamily('xvs_exporter_config_last_reload_successful'), 0);
  assert.equal(await exporter.sumFamily('xvs_exporter_config_last_reload_success_timestamp_seconds'), loaded);
  assert.doesNotMatch(await exporter.fetchMetrics(), /service_code="GOES"/);

  // A valid file is applied, except for settings that need a restart.
  write({ ...STAYS, ...COMES }, 'log: { level: debug }\nweb: { max_requests: 1 }\n');
  assert.equal((await exporter.reload())[0], 200);
  await exporter.waitForLog(
    /"settings":\["web.max_requests","log.level"\],"msg":"Some changed settings need a restart"/,
  );
  assert.equal(await exporter.sumFamily('xvs_exporter_config_last_reload_successful'), 1);

  // The unchanged code has kept its counters.
  assert.ok(((await exporter.sumFamily('xvs_exporter_polls_total', 'STAYS')) ?? 0) >= (started ?? Infinity));
  assert.match(exporter.output, /Starting xvs-exporter/);
  assert.doesNotMatch(exporter.output, /secret-of|secret-that|wrong-one/);
});
