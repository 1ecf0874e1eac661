import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { certificateFolder, HASH, SERVER_CERTIFICATE } from '../../unit/web/secured-server.ts';

const USERS = `basic_auth_users: { prometheus: ${HASH} }\n`;
const TLS = `tls_server_config: { ${SERVER_CERTIFICATE}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert }\n`;

/** Writes a web configuration into a folder with certificates, and returns its path. */
function writeWebConfiguration(t: TestContext, yml: string): string {
  const path = join(certificateFolder(t), 'web.yml');
  writeFileSync(path, yml);
  return path;
}

for (const [name, yml, flags, code, message] of [
  ['succeeds with TLS and passwords if probes are open', TLS + USERS, ['--web.open-probes'], 0, /^$/],
  ['fails with TLS otherwise', TLS + USERS, [], 1, /^healthcheck: /],
  ['names the setting that opens probes', USERS, [], 1, /found 401; set web\.open_probes to allow probes\n$/],
] as const)
  test(`healthcheck ${name}`, async (t) => {
    const path = writeWebConfiguration(t, yml);
    await using exporter = startProgram([`--web.config.file=${path}`, ...flags], SETTINGS);
    const port = await exporter.waitForPort();
    await using health = startProgram(['healthcheck', `--web.listen-address=127.0.0.1:${port}`]);
    assert.equal(await health.exitCode, code);
    assert.match(health.stderr, message);
    assert.equal(exporter.stdout, '');
  });

test('an invalid web configuration prevents the start and fails --config.check', async (t) => {
  const path = writeWebConfiguration(t, 'basic_auth_users: { prometheus: hunter2 }');
  for (const flags of [[], ['--config.check']]) {
    await using program = startProgram([`--web.config.file=${path}`, ...flags], SETTINGS);
    assert.equal(await program.exitCode, 2);
    assert.match(program.stderr, /web\.yml:1:33 basic_auth_users\.prometheus: expected a bcrypt hash/);
    assert.ok(!program.stderr.includes('hunter2'));
  }
});

test('a certificate that no client can use is a warning at check, start and reload', async (t) => {
  const pair = (name: string): string =>
    `tls_server_config: { cert_file: ${name}.pem, key_file: ${name}.key }\n`;
  const path = writeWebConfiguration(t, pair('brainpool'));
  const flag = `--web.config.file=${path}`;
  const warning =
    'tls_server_config.cert_file: expected a key that TLS can use, found one on the curve brainpoolP256r1; every handshake fails: use P-256, P-384 or RSA';
  await using check = startProgram([flag, '--config.check'], SETTINGS);
  assert.equal(await check.exitCode, 0);
  assert.equal(check.stderr, `${warning}\n`);
  await using exporter = startProgram([flag], SETTINGS);
  const logged = `{"warning":"${warning}","msg":"Questionable configuration"}`.slice(1);
  await exporter.waitForPort();
  assert.ok(exporter.stderr.includes(logged), exporter.stderr);
  writeFileSync(path, pair('server'));
  await exporter.waitForOutput(/(?:"Web configuration loaded".*\s[^]*){2}/);
  exporter.stderr = '';
  writeFileSync(path, pair('brainpool'));
  await exporter.waitForOutput(/"Web configuration loaded"/);
  assert.ok(exporter.stderr.includes(logged), exporter.stderr);
});
