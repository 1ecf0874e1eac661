import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { request } from 'node:http';
import { Agent } from 'node:https';
import { connect as connectTls } from 'node:tls';
import { test } from 'node:test';
import { parseSubjectAltNames } from '../../../../src/web/security/tls-server.ts';
import { readFixture } from '../../../support/fixtures.ts';
import { waitUntil } from '../../../support/wait-until.ts';
import {
  readResponse,
  requestOverHttps,
  clientCertificate,
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
  await once(socket, 'secureConnect');
  assert.deepEqual([socket.getProtocol(), socket.alpnProtocol], ['TLSv1.3', 'http/1.1']);
  socket.end('GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const [chunk]: unknown[] = await once(socket, 'data');
  assert.match(String(chunk), /^HTTP\/1\.1 200 OK\r\n[^]*hello from \/metrics/);
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
      const clients = [{}, ...['client', 'self-signed', 'expired'].map(clientCertificate)];
      for (const [index, client] of clients.entries()) {
        assert.equal(await requestOutcome(secured, client), expected[index], `client ${index}`);
      }
    });
  }
});

test('a client certificate needs one of client_allowed_sans', async (t) => {
  const table: [sans: string, client: string, expected: string][] = [
    ['[elsewhere.invalid]', 'wrong-host', '200'],
    ['[localhost]', 'wrong-host', 'broken'],
    ['[other, 127.0.0.1]', 'server', '200'],
    ['[LOCALHOST]', 'server', 'broken'],
    ['[]', 'server', 'broken'],
    ['[localhost]', 'client', 'broken'],
  ];
  for (const [sans, client, expected] of table) {
    await t.test(`${client} with allowed names ${sans}`, async (inner) => {
      const auth = 'client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
      const secured = await startSecuredServer(
        inner,
        `tls_server_config: { ${SERVER_CERTIFICATE}, ${auth}, client_allowed_sans: ${sans} }`,
      );
      assert.equal(await requestOutcome(secured, clientCertificate(client)), expected);
    });
  }
});

test('subject alternative names with special characters are parsed', () => {
  const table: [string, string[]][] = [
    ['', []],
    ['DNS:localhost, IP Address:127.0.0.1', ['localhost', '127.0.0.1']],
    ['DNS:"a, DNS:admin", email:me@example.com', ['a, DNS:admin', 'me@example.com']],
    ['IP Address:0:0:0:0:0:0:0:1', ['::1']],
    ['URI:spiffe://example.com/prometheus, othername:<unsupported>', ['spiffe://example.com/prometheus']],
    ['URI:"http://x/\\"y\\u0000"', ['http://x/"y\0']],
    ['DirName:CN = x, DNS:b', ['b']],
  ];
  for (const [text, expected] of table) assert.deepEqual(parseSubjectAltNames(text), expected, text);
});

test('protocol versions, cipher suites and curves follow the configuration', async (t) => {
  const table: [yml: string, client: object, expected: string][] = [
    ['', { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, 'broken'],
    ['', { maxVersion: 'TLSv1.2' }, '200'],
    ['min_version: TLS13', { maxVersion: 'TLSv1.2' }, 'broken'],
    ['max_version: TLS12', { minVersion: 'TLSv1.3' }, 'broken'],
    [
      'cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]',
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' },
      '200',
    ],
    [
      'cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]',
      { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384' },
      'broken',
    ],
    // The suites of TLS 1.3 are not configurable, as in Go.
    ['cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]', { minVersion: 'TLSv1.3' }, '200'],
    ['cipher_suites: [TLS_AES_128_GCM_SHA256]', { maxVersion: 'TLSv1.2' }, 'broken'],
    ['curve_preferences: [CurveP384]', { ecdhCurve: 'X25519' }, 'broken'],
    ['curve_preferences: [X25519, CurveP256]', { ecdhCurve: 'X25519' }, '200'],
  ];
  for (const [yml, client, expected] of table) {
    await t.test(`${yml} and a client with ${JSON.stringify(client)}`, async (inner) => {
      const secured = await startSecuredServer(inner, `tls_server_config: { ${SERVER_CERTIFICATE}, ${yml} }`);
      assert.equal(await requestOutcome(secured, client), expected);
    });
  }
});

test('a plain HTTP request to a TLS port gets a 400', async (t) => {
  const { port } = await startSecuredServer(t, TLS);
  for (const method of ['GET', 'POST', 'PUT']) {
    const { status, body } = await readResponse(request({ host: HOST, port, method, agent: false }).end());
    assert.deepEqual([status, body], [400, 'Client sent an HTTP request to an HTTPS server.\n']);
  }
});

for (const [order, expected] of [
  [true, 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  [false, 'ECDHE-ECDSA-AES256-GCM-SHA384'],
] as const) {
  test(`with prefer_server_cipher_suites: ${order}, the suite is ${expected}`, async (t) => {
    const suites = 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384';
    const section = `${SERVER_CERTIFICATE}, cipher_suites: [${suites}], prefer_server_cipher_suites: ${order}`;
    const { port } = await startSecuredServer(t, `tls_server_config: { ${section} }`);
    const socket = connectTls({
      host: HOST,
      port,
      ca: readFixture('tls/ca.pem'),
      maxVersion: 'TLSv1.2',
      ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256',
    });
    await once(socket, 'secureConnect');
    assert.equal(socket.getCipher().name, expected);
    socket.destroy();
  });
}

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

test('a change that needs a restart keeps the previous configuration', async (t) => {
  const table: [before: string, after: string, reason: string][] = [
    ['', TLS, 'TLS cannot be turned on'],
    [TLS, '', 'TLS cannot be turned off'],
    [TLS, withClientCa('RequestClientCert'), 'client_auth_type cannot change from or to NoClientCert'],
    [withClientCa('RequestClientCert'), TLS, 'client_auth_type cannot change from or to NoClientCert'],
  ];
  for (const [before, after, reason] of table) {
    await t.test(reason, async (inner) => {
      const { port, write, lines } = await startSecuredServer(inner, before);
      await write(after);
      const { level, reason: logged, msg } = JSON.parse(lines[0] ?? '');
      assert.deepEqual(
        [level, logged, msg],
        ['warn', reason, 'Web configuration change needs a restart; keeping the previous one'],
      );
      const outgoing = before === '' ? request({ host: HOST, port, agent: false }).end() : undefined;
      const { status } = await (outgoing === undefined ? requestOverHttps(port) : readResponse(outgoing));
      assert.equal(status, 200);
    });
  }
});

test('a reload cannot weaken the check of client certificates or the TLS version', async (t) => {
  const full = 'min_version: TLS13, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
  const section = (more: string): string => `tls_server_config: { ${SERVER_CERTIFICATE}, ${more} }\n`;
  const names = 'client_allowed_sans: [elsewhere.invalid]';
  const table: [weaker: string, removed: string[]][] = [
    [section(full), ['client_allowed_sans']],
    [section(`${full.replace('min_version: TLS13, ', '')}, ${names}`), ['min_version']],
    [section(`${full.replace('client_ca_file: ca.pem, ', '')}, ${names}`), ['client_ca']],
    [
      section(`${full.replace('RequireAndVerifyClientCert', 'RequireAnyClientCert')}, ${names}`),
      ['client_auth_type (certificate verified)', 'client_ca'],
    ],
    [
      section(full.replace('RequireAndVerifyClientCert', 'VerifyClientCertIfGiven')),
      ['client_auth_type (certificate required)', 'client_allowed_sans'],
    ],
  ];
  for (const [weaker, removed] of table) {
    await t.test(removed.join(', '), async (inner) => {
      const secured = await startSecuredServer(inner, section(`${full}, ${names}`));
      await secured.write(weaker);
      const { level, removed: logged } = JSON.parse(secured.lines[0] ?? '');
      assert.deepEqual([level, logged], ['warn', removed]);
      const clients = [{}, clientCertificate('self-signed'), clientCertificate('client')];
      for (const client of clients) assert.equal(await requestOutcome(secured, client), 'broken');
      assert.equal(await requestOutcome(secured, clientCertificate('wrong-host')), '200');
      const older = { ...clientCertificate('wrong-host'), maxVersion: 'TLSv1.2' } as const;
      assert.equal(await requestOutcome(secured, older), 'broken');
    });
  }
});

test('an expired certificate is logged once for each load, and its end is a metric', async (t) => {
  const { write, lines, metrics } = await startSecuredServer(t, TLS);
  assert.equal(metrics.certificateNotAfterMs, Date.UTC(2100, 0));
  await write(TLS.replaceAll('server.', 'expired.'));
  await write(TLS.replaceAll('server.', 'expired.'));
  assert.equal(metrics.certificateNotAfterMs, Date.UTC(2001, 0));
  assert.deepEqual(
    lines
      .map((line) => JSON.parse(line))
      .map(({ level, msg, certificate, not_after }) => [level, msg, certificate, not_after]),
    [
      ['info', 'Web configuration loaded', undefined, undefined],
      ['warn', 'Certificate expired', 'server', '2001-01-01T00:00:00.000Z'],
    ],
  );
});

test('a certificate that expires while the exporter runs is logged once', async (t) => {
  const { write, lines, clock } = await startSecuredServer(t, TLS, {}, Date.UTC(2099, 11, 31));
  await write(TLS);
  assert.deepEqual(lines, []);
  clock.advance(24 * 60 * 60 * 1000);
  await write(TLS);
  await write(TLS);
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"level":"warn".*"certificate":"server".*"msg":"Certificate expired"/);
});

test('a change between types that request certificates is applied', async (t) => {
  const secured = await startSecuredServer(t, withClientCa('RequestClientCert'));
  assert.equal(await requestOutcome(secured, {}), '200');
  await secured.write(withClientCa('RequireAndVerifyClientCert'));
  assert.equal(await requestOutcome(secured, {}), 'broken');
  assert.equal(await requestOutcome(secured, clientCertificate('client')), '200');
});

test('a session from before a change of the client CA does not authorize', async (t) => {
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    await t.test(maxVersion, async (inner) => {
      const secured = await startSecuredServer(inner, withClientCa('RequireAndVerifyClientCert'));
      const ca = readFixture('tls/ca.pem');
      const agent = new Agent({ maxCachedSessions: 10, maxVersion, ca, ...clientCertificate('client') });
      for (const expected of ['200', '200']) assert.equal(await requestOutcome(secured, { agent }), expected);
      await secured.write(readFixture('tls/self-signed.pem').toString(), 'ca.pem');
      assert.equal(await requestOutcome(secured, { agent }), 'broken');
    });
  }
});

test('a reset during the handshake leaves nothing behind', async (t) => {
  const { port, clock } = await startSecuredServer(t, TLS);
  const socket = connect({ host: HOST, port }).on('error', () => undefined);
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 1,
  );
  socket.write(Buffer.from([22, 3, 1, 2, 0]));
  socket.resetAndDestroy();
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 0,
  );
});

test('a connection without a finished handshake is closed after ten seconds', async (t) => {
  const { port, clock } = await startSecuredServer(t, TLS);
  const silent = connect({ host: HOST, port });
  const stuck = connect({ host: HOST, port });
  stuck.write(Buffer.from([22, 3, 1, 2, 0]));
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 2,
  );
  const closed = [once(silent, 'close'), once(stuck, 'close')];
  clock.advance(10_000);
  await Promise.all(closed);
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
  const { server, port, clock } = await startSecuredServer(t, TLS);
  const silent = connect({ host: HOST, port });
  const closed = once(silent, 'close');
  await waitUntil(
    () => clock.sleeperCount,
    (sleepers) => sleepers === 1,
  );
  await server[Symbol.asyncDispose]();
  await closed;
});
