import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { RunningExporter } from './running-exporter.ts';

/** Polls an address without a service, with a secret in a file. */
const createConfiguration = (serviceCodes: string): string =>
  `upstream: { base_url: "http://127.0.0.1:1" }\nsecret_file: secret\nservice_codes: [${serviceCodes}]\n`;

test('SIGHUP reads all files again, and an invalid one changes nothing', async () => {
  using folder = new TemporaryFolder();
  folder.replace('secret', 'old-secret\n');
  folder.replace('config.yml', createConfiguration('STAYS'));
  await using program = startProgram([
    `--config.file=${folder.at('config.yml')}`,
    '--web.listen-address=127.0.0.1:0',
  ]);
  const exporter = await RunningExporter.attach(program);

  folder.replace('secret', 'new-secret\n');
  folder.replace('config.yml', createConfiguration('STAYS, COMES'));
  program.signal('SIGHUP');
  await exporter.waitForLog(
    /"trigger":"signal","added":1,"changed":1,"kept":0,"removed":0,"msg":"Configuration reloaded"/,
  );

  folder.replace('config.yml', createConfiguration('{ service_code: STAYS, secret: [secret-in-a-list] }'));
  program.signal('SIGHUP');
  await exporter.waitForLog(
    /"level":"error".*config\.yml:3:\d+ service_codes\[0\]\.secret: expected a secret .*"Configuration reload failed"/,
  );
  assert.equal(await exporter.sumFamily('xvs_exporter_config_last_reload_successful'), 0);
  assert.equal(await exporter.sumFamily('xvs_exporter_service_codes'), 2);
  assert.doesNotMatch(exporter.output, /old-secret|new-secret|secret-in-a-list/);
});

test('service code files are read again when they change, and an invalid one keeps its codes', async () => {
  using folder = new TemporaryFolder();
  mkdirSync(folder.at('codes'));
  folder.replace(
    'config.yml',
    'upstream: { base_url: "http://127.0.0.1:1" }\nservice_code_files: [codes/*.json]\n',
  );
  await using program = startProgram([
    `--config.file=${folder.at('config.yml')}`,
    '--web.listen-address=127.0.0.1:0',
  ]);
  const exporter = await RunningExporter.attach(program);
  // An empty folder is valid.
  assert.equal(await exporter.fetchStatus('/-/ready'), 200);

  const entry = { service_code: 'COMES', secret: 'secret-of-COMES', labels: { tenant: 'acme' } };
  folder.replace('codes/a.json', JSON.stringify([entry]));
  await exporter.waitForLog(/"trigger":"file","added":1,.*"msg":"Configuration reloaded"/);

  folder.replace('codes/a.json', `[${JSON.stringify(entry)},\n {"service_code": 7}]`);
  await exporter.waitForLog(
    /codes\/a\.json:2:19 \[1\]\.service_code: expected .*"Service code files are invalid;/,
  );
  const metrics = await exporter.fetchMetrics();
  assert.match(metrics, /^xvs_exporter_config_last_reload_successful 0$/m);
  assert.match(metrics, /^xvs_exporter_code_file_valid\{file="codes\/a\.json"\} 0$/m);
  assert.match(metrics, /^xvs_exporter_polls_total\{service_code="COMES",tenant="acme"\}/m);
  assert.doesNotMatch(exporter.output, /secret-of/);
});
