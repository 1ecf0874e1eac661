import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it, test, type TestContext } from 'node:test';
import { findRemedies } from '../../../src/poller/remedies.ts';
import { createFailure } from '../diagnostics/observations.ts';
import { fixturePath, readFixture, readIdentity } from '../../support/fixtures.ts';
import { isInstalled } from '../../support/installed-programs.ts';
import { findClosedPort, serveHttps } from '../../support/servers.ts';
import { assertFailsWith, collectListing, openClient, targetAt } from './collect-listing.ts';

const ca = readFixture('tls/ca.pem').toString();
const NAMES_SETTING = /client certificate, .*[Cc]heck upstream\.cert_file and upstream\.key_file/;

/** Alerts of RFC 8446, section 6, and of RFC 5246 that a server sends about the certificate of a client. */
const ALERTS = [
  'ALERT_BAD_CERTIFICATE',
  'ALERT_UNSUPPORTED_CERTIFICATE',
  'ALERT_CERTIFICATE_REVOKED',
  'ALERT_CERTIFICATE_EXPIRED',
  'ALERT_CERTIFICATE_UNKNOWN',
  'ALERT_UNKNOWN_CA',
  'ALERT_ACCESS_DENIED',
  'ALERT_DECRYPT_ERROR',
  'ALERT_CERTIFICATE_REQUIRED',
  'ALERT_NO_CERTIFICATE',
];

/** Prefixes of OpenSSL 3.0, by version of the protocol, and of OpenSSL 3.2 and later. */
const PREFIXES = ['ERR_SSL_SSLV3_', 'ERR_SSL_TLSV1_', 'ERR_SSL_TLSV13_', 'ERR_SSL_SSL/TLS_'];

for (const alert of ALERTS)
  test(`${alert} of a server names the setting of the client certificate`, () => {
    for (const prefix of PREFIXES) {
      const [remedy] = findRemedies({
        target: targetAt('https://live.example.com'),
        fetched: createFailure('tls', { code: prefix + alert }, { response: undefined }),
      });
      assert.match(remedy ?? '', NAMES_SETTING);
    }
  });

/** Starts a server of OpenSSL, which says by an alert what it makes of the certificate of a client. */
async function serveOpenSsl(t: TestContext, version: string, trusted: string): Promise<string> {
  const address = `127.0.0.1:${await findClosedPort()}`;
  const files = ['-cert', 'server.pem', '-key', 'server.key', '-CAfile', `${trusted}.pem`];
  const verify = ['-Verify', '1', '-verify_return_error', '-www', version];
  const program = spawn('openssl', ['s_server', '-accept', address, ...files, ...verify], {
    cwd: fixturePath('tls'),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  t.after(async () => {
    program.kill();
    await once(program, 'close');
  });
  // ACCEPT is the line that it prints when it listens.
  for await (const chunk of program.stdout) if (String(chunk).includes('ACCEPT')) break;
  program.stdout.resume();
  return `https://${address}`;
}

describe('a service that requires a client certificate', () => {
  for (const version of ['-tls1_2', '-tls1_3'] as const)
    for (const [name, alert] of [
      ['', version === '-tls1_2' ? 'HANDSHAKE_FAILURE' : 'CERTIFICATE_REQUIRED'],
      ['self-signed', 'UNKNOWN_CA'],
      ['expired', 'CERTIFICATE_EXPIRED'],
      ['server-only', 'UNSUPPORTED_CERTIFICATE'],
    ] as const)
      it(`fails with tls and ${alert} over ${version} for ${name || 'no'} certificate`, async (t) => {
        if (!isInstalled(t, 'openssl')) return;
        const url = await serveOpenSsl(t, version, name === 'server-only' ? name : 'ca');
        const client = openClient(t, { tls: { ca, ...(name !== '' && readIdentity(name)) } });
        const error = await assertFailsWith(collectListing(client, targetAt(url)), 'tls');
        assert.match(error.code ?? '', new RegExp(`_ALERT_${alert}$`));
        const [remedy] = findRemedies({
          target: targetAt(url),
          fetched: createFailure('tls', { code: error.code }, { response: undefined }),
        });
        assert.match(remedy ?? '', NAMES_SETTING);
      });

  it('fails with tls over TLS 1.3 if it is a server of Node.js', async (t) => {
    const options = { ...readIdentity('server'), ca, requestCert: true, rejectUnauthorized: true };
    const url = await serveHttps(t, options, (_request, response) => response.end('{}'));
    const error = await assertFailsWith(collectListing(openClient(t, { tls: { ca } }), targetAt(url)), 'tls');
    assert.equal(
      error.message,
      `The service requires a client certificate (ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED ${new URL(url).host})`,
    );
  });
});

describe('a certificate of the service whose fault Node.js does not name', () => {
  for (const [name, authority, words] of [
    ['constrained', 'constrained-ca', 'permitted subtree violation'],
    ['unknown-extension', 'unknown-extension', 'unhandled critical extension'],
    ['weak', 'weak', 'EE certificate key too weak'],
    ['client', 'ca', 'INVALID_PURPOSE'],
  ] as const)
    it(`is tls, with the words of OpenSSL: ${words}`, async (t) => {
      const options = { ...readIdentity(name), ciphers: 'DEFAULT:@SECLEVEL=0' };
      const url = await serveHttps(t, options, (_request, response) => response.end('{}'));
      const trusted = readFixture(`tls/${authority}.pem`).toString();
      const client = openClient(t, { tls: { ca: trusted } });
      const error = await assertFailsWith(collectListing(client, targetAt(url)), 'tls');
      assert.match(error.message, new RegExp(`\\(${words}[^()]*\\)$`));
    });
});
