import assert from 'node:assert/strict';
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
