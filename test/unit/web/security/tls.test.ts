import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { test } from 'node:test';
import { readFixture, readIdentity } from '../../../support/fixtures.ts';
import { waitForEvent } from '../../../support/servers.ts';
import { waitForValue } from '../../../support/wait-until.ts';
import {
  requestOverHttp,
  requestOverHttps,
  SERVER_CERTIFICATE,
  startSecuredServer,
} from '../secured-server.ts';
import type { SecuredServer } from '../secured-server.ts';

const TLS = `tls_server_config: { ${SERVER_CERTIFICATE} }\n`;
const HOST = '127.0.0.1';

const withClientCa = (type: string): string =>
  `tls_server_config: { ${SERVER_CERTIFICATE}, client_ca_file: ca.pem, client_auth_type: ${type} }\n`;

/** The status of a response, or `broken` if the connection ends without one. */
async function requestOutcome(
  { port }: Pick<SecuredServer, 'port'>,
  options: Parameters<typeof requestOverHttps>[2],
) {
  try {
    const { status } = await requestOverHttps(port, '/metrics', options);
    return String(status);
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, String(error));
    return 'broken';
  }
}

test('it serves TLS 1.3, and HTTP/1.1 to clients that also offer HTTP/2', async (t) => {
  const { port } = await startSecuredServer(t, TLS);
  const socket = connectTls({
    host: HOST,
    port,
    ca: readFixture('tls/ca.pem'),
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  await waitForEvent(socket, 'secureConnect');
  assert.deepEqual([socket.getProtocol(), socket.alpnProtocol], ['TLSv1.3', 'http/1.1']);
  socket.end('GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  assert.match(String(await waitForEvent(socket, 'data')), /^HTTP\/1\.1 200 OK\r\n[^]*hello from \/metrics/);
});

test('client_auth_type decides whether client certificates are requested, required and verified', async (t) => {
  // Columns: without a certificate, with one of the client CA, with a self-signed one, with an expired one.
  const table: [type: string, expected: string[]][] = [
    ['NoClientCert', ['200', '200', '200', '200']],
    ['RequestClientCert', ['200', '200', '200', '200']],
    ['RequireAnyClientCert', ['broken', '200', '200', '200']],
    ['RequireClientCert', ['broken', '200', '200', '200']],
    ['VerifyClientCertIfGiven', ['200', '200', 'broken', 'broken']],
    ['RequireAndVerifyClientCert', ['broken', '200', 'broken', 'broken']],
  ];
  for (const [type, expected] of table) {
    await t.test(type, async (inner) => {
      const ca = type === 'NoClientCert' ? '' : ', client_ca_file: ca.pem';
      const secured = await startSecuredServer(
        inner,
        `tls_server_config: { ${SERVER_CERTIFICATE}, client_auth_type: ${type}${ca} }`,
      );
      const clients = [{}, ...['client', 'self-signed', 'expired'].map(readIdentity)];
      for (const [index, client] of clients.entries()) {
        assert.equal(await requestOutcome(secured, client), expected[index], `client ${index}`);
      }
    });
  }
});

test('TLS 1.2 is the oldest version, or what min_version says', async (t) => {
  const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
  const standard = await startSecuredServer(t, TLS);
  const strict = await startSecuredServer(t, TLS.replace(' }', ', min_version: TLS13 }'));
  assert.equal(await requestOutcome(standard, old), 'broken');
  assert.equal(await requestOutcome(standard, { maxVersion: 'TLSv1.2' }), '200');
  assert.equal(await requestOutcome(strict, { maxVersion: 'TLSv1.2' }), 'broken');
});

test('a plain HTTP request to a TLS port gets a 400', async (t) => {
  const { port } = await startSecuredServer(t, TLS);
  for (const method of ['GET', 'POST', 'PUT']) {
    const { status, body } = await requestOverHttp(port, '/', { method });
    assert.deepEqual([status, body], [400, 'Client sent an HTTP request to an HTTPS server.\n']);
  }
});

test('a new certificate is used at the next handshake', async (t) => {
  const { port, write, lines } = await startSecuredServer(t, TLS);
  await requestOverHttps(port);
  await write(TLS.replaceAll('server.', 'self-signed.'));
  await assert.rejects(requestOverHttps(port), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  // Certificate files are watched too. Between the two writes, certificate and key do not match.
  const before = lines.length;
  await write(readFixture('tls/server.pem').toString(), 'self-signed.pem');
  await assert.rejects(requestOverHttps(port), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  await write(readFixture('tls/server.key').toString(), 'self-signed.key');
  assert.equal((await requestOverHttps(port)).status, 200);
  assert.deepEqual(
    lines.slice(before).map((line) => JSON.parse(line).msg),
    ['Web configuration reload failed; keeping the previous one', 'Web configuration loaded'],
  );
  assert.ok(!lines.join('').includes('PRIVATE KEY'));
});

test('TLS and requests for certificates are turned on and off by a restart only', async (t) => {
  const requested = 'client_auth_type (certificate requested)';
  for (const [before, after, changes] of [
    [TLS, '', ['tls_server_config']],
    ['', TLS, ['tls_server_config']],
    [TLS, withClientCa('RequestClientCert'), [requested]],
    [withClientCa('RequestClientCert'), TLS, [requested]],
  ] as const) {
    const { port, write, lines } = await startSecuredServer(t, before);
    await write(after);
    const { level, changes: logged, msg } = JSON.parse(lines[0] ?? '');
    assert.deepEqual(
      [level, logged, msg],
      ['warn', changes, 'Web configuration change needs a restart; keeping the previous one'],
    );
    const { status } = await (before === '' ? requestOverHttp(port) : requestOverHttps(port));
    assert.equal(status, 200);
  }
});

test('a reload cannot weaken the check of client certificates or the TLS version', async (t) => {
  const full = 'min_version: TLS13, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
  const write = (keys: string): string => `tls_server_config: { ${SERVER_CERTIFICATE}, ${keys} }\n`;
  const table: [weaker: string, changes: string[]][] = [
    [full.replace('min_version: TLS13, ', ''), ['min_version']],
    [full.replace('client_ca_file: ca.pem, ', ''), ['client_ca_file']],
    [
      full.replace('RequireAndVerifyClientCert', 'RequireAnyClientCert'),
      ['client_auth_type (certificate verified)', 'client_ca_file'],
    ],
    [
      full.replace('RequireAndVerifyClientCert', 'VerifyClientCertIfGiven'),
      ['client_auth_type (certificate required)'],
    ],
  ];
  for (const [weaker, changes] of table) {
    await t.test(changes.join(', '), async (inner) => {
      const secured = await startSecuredServer(inner, write(full));
      await secured.write(write(weaker));
      const { level, changes: logged } = JSON.parse(secured.lines[0] ?? '');
      assert.deepEqual([level, logged], ['warn', changes]);
      for (const client of [{}, readIdentity('self-signed')])
        assert.equal(await requestOutcome(secured, client), 'broken');
      assert.equal(await requestOutcome(secured, readIdentity('client')), '200');
      const older = { ...readIdentity('client'), maxVersion: 'TLSv1.2' } as const;
      assert.equal(await requestOutcome(secured, older), 'broken');
    });
  }
});

test('the first end of the certificates that the server sends is a metric', async (t) => {
  const { write, metrics } = await startSecuredServer(t, TLS);
  assert.equal(metrics.certificateNotAfterMs, Date.UTC(2100, 0));
  await write(TLS.replaceAll('server.', 'expired.'));
  assert.equal(metrics.certificateNotAfterMs, Date.UTC(2001, 0));
  await write(TLS);
  assert.equal(metrics.certificateNotAfterMs, Date.UTC(2100, 0));
  const [server, expired] = ['server', 'expired'].map((name) => readIdentity(name).cert);
  await write(`${server}${expired}`, 'server.pem');
  assert.equal(metrics.certificateNotAfterMs, Date.UTC(2001, 0));
});

test('a change between types that request certificates is applied', async (t) => {
  const secured = await startSecuredServer(t, withClientCa('RequestClientCert'));
  assert.equal(await requestOutcome(secured, {}), '200');
  await secured.write(withClientCa('RequireAndVerifyClientCert'));
  assert.equal(await requestOutcome(secured, {}), 'broken');
  assert.equal(await requestOutcome(secured, readIdentity('client')), '200');
});

test('a client CA may be an intermediate one', async (t) => {
  const secured = await startSecuredServer(
    t,
    withClientCa('RequireAndVerifyClientCert').replace('ca.pem', 'intermediate.pem'),
  );
  assert.equal(await requestOutcome(secured, readIdentity('issued')), '200');
  for (const other of ['client', 'self-signed'])
    assert.equal(await requestOutcome(secured, readIdentity(other)), 'broken');
  // With the root alone, the client sends the intermediate certificate, too.
  await secured.write(withClientCa('RequireAndVerifyClientCert'));
  const chain = `${readFixture('tls/issued.pem').toString()}${readFixture('tls/intermediate.pem').toString()}`;
  assert.equal(await requestOutcome(secured, readIdentity('issued')), 'broken');
  assert.equal(await requestOutcome(secured, { ...readIdentity('issued'), cert: chain }), '200');
});

test('a reset during the handshake leaves nothing behind', async (t) => {
  const { port, metrics } = await startSecuredServer(t, TLS);
  const socket = connect({ host: HOST, port }).on('error', () => undefined);
  await waitForValue(() => metrics.connections, 1);
  socket.write(Buffer.from([22, 3, 1, 2, 0]));
  socket.resetAndDestroy();
  await waitForValue(() => metrics.connections, 0);
});

test('invalid TLS records close their connection only', async (t) => {
  const { port } = await startSecuredServer(t, TLS);
  for (const bytes of [
    [22, 255, 255, 0, 4, 1, 2, 3, 4],
    [22, 3, 1, 0, 5, 1, 0, 0, 1, 0],
  ]) {
    const socket = connect({ host: HOST, port }).on('error', () => undefined);
    socket.end(Buffer.from(bytes));
    await once(socket.resume(), 'close');
  }
  assert.equal((await requestOverHttps(port)).status, 200);
});

test('closing ends unfinished handshakes', async (t) => {
  const { server, port, metrics } = await startSecuredServer(t, TLS);
  const silent = connect({ host: HOST, port });
  const closed = once(silent, 'close');
  await waitForValue(() => metrics.connections, 1);
  await server[Symbol.asyncDispose]();
  await closed;
});
