import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { readIdentity } from '../../support/fixtures.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { RunningExporter } from './running-exporter.ts';

test('the end of the client certificate is on /metrics, and a reload warns of an expired one', async () => {
  using folder = new TemporaryFolder();
  const use = (name: string): number => {
    const { cert, key } = readIdentity(name);
    folder.replace('client.pem', cert);
    folder.replace('client.key', key);
    return Date.parse(new X509Certificate(cert).validTo) / 1000;
  };
  const family = 'xvs_exporter_client_certificate_not_after_timestamp_seconds';
  const validEnd = use('client');
  await using program = startProgram([], {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: 'https://127.0.0.1:1',
    XVS_UPSTREAM_CERT_FILE: folder.at('client.pem'),
    XVS_UPSTREAM_KEY_FILE: folder.at('client.key'),
  });
  const exporter = await RunningExporter.attach(program);
  assert.equal(await exporter.sumFamily(family), validEnd);
  assert.doesNotMatch(exporter.output, /Questionable/);
  const expiredEnd = use('expired');
  program.signal('SIGHUP');
  const warning = await exporter.waitForLog(/^.*"Questionable configuration".*$/m);
  assert.match(warning, /upstream\.cert_file: .* one that expired on 2001-01-01/);
  assert.equal(await exporter.sumFamily(family), expiredEnd);
});
