import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram, type Program } from '../../support/program.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';
import { RunningExporter } from './running-exporter.ts';

/** Starts an exporter whose service codes are all in files of the folder `codes`. */
async function startExporter(folder: TemporaryFolder, url: string): Promise<Program> {
  folder.replace(
    'config.yml',
    `upstream: { base_url: "${url}" }\npoll: { interval: 1s }\nservice_code_files: [codes/*.yml, codes/*.json]\n`,
  );
  return startProgram([`--config.file=${folder.at('config.yml')}`, '--web.listen-address=127.0.0.1:0']);
}

const createEntry = (code: string, labels: Readonly<Record<string, string>> = {}) => ({
  service_code: code,
  secret: `secret-of-${code}`,
  labels,
});

test(
  'codes are added and removed with their files, and the counters of others continue',
  { timeout: 600_000 },
  async () => {
    using folder = new TemporaryFolder();
    mkdirSync(folder.at('codes'));
    const flags = ['STAYS', 'GOES'].map((code) => `--service-code=${code}:secret-of-${code}`);
    await using simulator = startSimulatorProgram('--seed=122', '--tasks=5', '--users=5', ...flags);
    await using program = await startExporter(folder, await simulator.waitForUrl());
    const exporter = await RunningExporter.attach(program);

    // An empty folder is valid.
    assert.equal(await exporter.fetchStatus('/-/ready'), 200);
    assert.match(await exporter.fetchText('/'), /This exporter polls no service codes/);

    folder.replace('codes/own-secret', 'secret-of-GOES\n');
    folder.replace('codes/goes.yml', '- service_code: GOES\n  secret_file: own-secret\n');
    folder.replace('codes/stays.json', JSON.stringify([createEntry('STAYS', { tenant: 'acme' })]));
    await exporter.waitForLog(
      /"trigger":"file","added":2,"changed":0,"kept":0,"removed":0,"msg":"Configuration reloaded"/,
    );
    for (const code of ['STAYS', 'GOES']) await exporter.waitUntilUp(code);
    assert.match(await exporter.fetchMetrics(), /xvs_up\{service_code="STAYS",tenant="acme"\} 1/);
    const before = (await exporter.sumFamily('xvs_exporter_polls_total', 'STAYS')) ?? 0;

    // A removed file and changed labels do not affect other codes.
    folder.remove('codes/goes.yml');
    folder.replace('codes/stays.json', JSON.stringify([createEntry('STAYS', { tenant: 'globex' })]));
    program.signal('SIGHUP');
    await exporter.waitForLog(
      /"added":0,"changed":0,"kept":1,"removed":1,"relabelled":1,"msg":"Configuration reloaded"/,
    );
    assert.doesNotMatch(await exporter.fetchMetrics(), /GOES|acme/);
    await waitUntil(
      () => exporter.sumFamily('xvs_exporter_polls_total', 'STAYS'),
      (now) => (now ?? 0) > before,
    );

    // An invalid file keeps its codes, and the error names its location.
    folder.replace('codes/stays.json', `[${JSON.stringify(createEntry('STAYS'))},\n {"service_code": 7}]`);
    program.signal('SIGHUP');
    const line = await exporter.waitForLog(/\{[^\n]*"msg":"Service code files are invalid; keeping[^\n]*/);
    assert.match(line, /codes\/stays\.json:2:19 \[1\]\.service_code: expected a service code .*, found 7/);
    const metrics = await exporter.fetchMetrics();
    assert.match(metrics, /xvs_exporter_config_last_reload_successful 0/);
    assert.match(metrics, /xvs_exporter_code_file_valid\{file="codes\/stays\.json"\} 0/);
    assert.match(metrics, /xvs_up\{service_code="STAYS",tenant="globex"\} 1/);
    assert.doesNotMatch(exporter.output, /secret-of/);
  },
);

test('--config.check and once report a configuration without service codes', async () => {
  using folder = new TemporaryFolder();
  folder.replace(
    'config.yml',
    'upstream: { base_url: "http://127.0.0.1:1" }\nservice_code_files: ["*.json"]\n',
  );
  const run = async (...args: readonly string[]): Promise<readonly [number | null, string, string]> => {
    await using program = startProgram([...args, `--config.file=${folder.at('config.yml')}`]);
    return [await program.exitCode, program.stdout, program.stderr];
  };
  const [exit, stdout, stderr] = await run('once');
  assert.equal(exit, 0);
  assert.match(stdout, /^xvs_exporter_build_info\{/m);
  assert.match(stderr, /^No service codes to poll: no file in service_code_files lists one\./m);
  const [, checked] = await run('--config.check');
  assert.match(
    checked,
    /valid: 0 service codes\.\n[^]*\nService code files: none found\.\n\nService codes: none\.\n$/,
  );

  folder.replace('a.json', JSON.stringify([createEntry('A', { tenant: 'acme' }), createEntry('B')]));
  folder.replace('b.json', '[]');
  const [, found] = await run('--config.check');
  assert.match(
    found,
    /\nService code files:\n {2}file +service codes\n {2}\S+a\.json +2\n {2}\S+b\.json +0\n\n/,
  );
  assert.match(found, /\n {2}A .*<secret of 11 bytes> {2}tenant="acme"\n {2}B .*<secret of 11 bytes>\n$/);
});
