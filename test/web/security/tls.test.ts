import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { request } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { test } from 'node:test';
import { subjectNames } from '../../src/web/client-certificate.ts';
import { fixture } from '../support/fixtures.ts';
import { until } from '../support/until.ts';
import { answerTo, askSecurely, clientCertificate, SERVER, startGuarded } from './guarded.ts';
import type { Guarded } from './guarded.ts';

const TLS = `tls_server_config: { ${SERVER} }\n`;
const HOST = '127.0.0.1';

/** Whether a client gets an answer: `200`, another status, or `broken` where the connection ends without one. */
async function outcomeOf(guarded: Guarded, options: Parameters<typeof askSecurely>[2], path = '/metrics') {
  try {
    const { status } = await askSecurely(guarded.port, path, options);
    return String(status);
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, String(error));
    return 'broken';
  }
}

test('with a certificate it answers over TLS 1.3, and HTTP/1.1 to whoever offers HTTP/2 too', async (t) => {
  const { port } = await startGuarded(t, TLS);
  const socket = connectTls({
    host: HOST,
    port,
    ca: fixture('tls/ca.pem'),
    ALPNProtocols: ['h2', 'http/1.1'],
  });
  await once(socket, 'secureConnect');
  assert.deepEqual([socket.getProtocol(), socket.alpnProtocol], ['TLSv1.3', 'http/1.1']);
  socket.end('GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
  const [chunk]: unknown[] = await once(socket, 'data');
  assert.match(String(chunk), /^HTTP\/1\.1 200 OK\r\n[^]*hello from \/metrics/);
});

test('a request by plain HTTP is told what is wrong with it', async (t) => {
  const { port } = await startGuarded(t, TLS);
  const { status, body } = await answerTo(request({ host: HOST, port, agent: false }).end());
  assert.deepEqual([status, body], [400, 'Client sent an HTTP request to an HTTPS server.\n']);
});

test('client certificates are asked for, required and verified as client_auth_type says', async (t) => {
  // The columns: no certificate, one of the client CA, one of someone else.
  const table: [type: string, expected: string[]][] = [
    ['NoClientCert', ['200', '200', '200']],
    ['RequestClientCert', ['200', '200', '200']],
    ['RequireAnyClientCert', ['broken', '200', '200']],
    ['RequireClientCert', ['broken', '200', '200']],
    ['VerifyClientCertIfGiven', ['200', '200', 'broken']],
    ['RequireAndVerifyClientCert', ['broken', '200', 'broken']],
  ];
  for (const [type, expected] of table) {
    await t.test(type, async (inner) => {
      const ca = type === 'NoClientCert' ? '' : ', client_ca_file: ca.pem';
      const guarded = await startGuarded(
        inner,
        `tls_server_config: { ${SERVER}, client_auth_type: ${type}${ca} }`,
      );
      const clients = [{}, clientCertificate('client'), clientCertificate('self-signed')];
      for (const [index, client] of clients.entries()) {
        assert.equal(await outcomeOf(guarded, client), expected[index], `client ${index}`);
      }
    });
  }
});

test('a certificate whose time is over is not verified', async (t) => {
  const yml = `tls_server_config: { ${SERVER}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert }`;
  const guarded = await startGuarded(t, yml);
  assert.equal(await outcomeOf(guarded, clientCertificate('expired')), 'broken');
});

test('of client_allowed_sans a certificate must have one', async (t) => {
  const table: [sans: string, client: string, expected: string][] = [
    ['[elsewhere.invalid]', 'wrong-host', '200'],
    ['[localhost]', 'wrong-host', 'broken'],
    ['[other, 127.0.0.1]', 'server', '200'],
    ['[LOCALHOST]', 'server', 'broken'],
    ['[]', 'server', 'broken'],
    ['[localhost]', 'client', 'broken'],
  ];
  for (const [sans, client, expected] of table) {
    await t.test(`${client} where ${sans} are allowed`, async (inner) => {
      const auth = 'client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert';
      const guarded = await startGuarded(
        inner,
        `tls_server_config: { ${SERVER}, ${auth}, client_allowed_sans: ${sans} }`,
      );
      assert.equal(await outcomeOf(guarded, clientCertificate(client)), expected);
    });
  }
});

test('names of a certificate are read as they were meant, whatever stands in them', () => {
  const table: [string, string[]][] = [
    ['', []],
    ['DNS:localhost, IP Address:127.0.0.1', ['localhost', '127.0.0.1']],
    ['DNS:"a, DNS:admin", email:me@example.com', ['a, DNS:admin', 'me@example.com']],
    ['IP Address:0:0:0:0:0:0:0:1', ['::1']],
    ['URI:spiffe://example.com/prometheus, othername:<unsupported>', ['spiffe://example.com/prometheus']],
    ['URI:"http://x/\\"y\\u0000"', ['http://x/"y\0']],
    ['DirName:CN = x, DNS:b', ['b']],
  ];
  for (const [text, expected] of table) assert.deepEqual(subjectNames(text), expected, text);
});

test('protocol versions, suites and curves are those of the configuration', async (t) => {
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
    // TLS 1.3 leaves no choice of suites, in Go as here.
    ['cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]', { minVersion: 'TLSv1.3' }, '200'],
    ['cipher_suites: [TLS_AES_128_GCM_SHA256]', { maxVersion: 'TLSv1.2' }, 'broken'],
    ['curve_preferences: [CurveP384]', { ecdhCurve: 'P-384' }, '200'],
    ['curve_preferences: [CurveP384]', { ecdhCurve: 'X25519' }, 'broken'],
    ['curve_preferences: [X25519, CurveP256]', { ecdhCurve: 'X25519' }, '200'],
  ];
  for (const [yml, client, expected] of table) {
    await t.test(`${yml} and a client with ${JSON.stringify(client)}`, async (inner) => {
      const guarded = await startGuarded(inner, `tls_server_config: { ${SERVER}, ${yml} }`);
      assert.equal(await outcomeOf(guarded, client), expected);
    });
  }
});

test('a new certificate is shown at the next handshake', async (t) => {
  const { port, write, lines } = await startGuarded(t, TLS);
  await askSecurely(port);
  write(TLS.replaceAll('server.', 'self-signed.'));
  await assert.rejects(askSecurely(port), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  // The files that it names are looked at, too; between certificate and key they do not fit together.
  const before = lines.length;
  write(fixture('tls/server.pem').toString(), 'self-signed.pem');
  await assert.rejects(askSecurely(port), { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' });
  write(fixture('tls/server.key').toString(), 'self-signed.key');
  assert.equal((await askSecurely(port)).status, 200);
  assert.deepEqual(
    lines.slice(before).map((line) => JSON.parse(line).msg),
    ['Web configuration not loaded, the one before stays in force', 'Web configuration loaded'],
  );
  assert.ok(!lines.join('').includes('PRIVATE KEY'));
});

test('a connection that never begins TLS, or never ends its handshake, is broken off', async (t) => {
  const { port, clock } = await startGuarded(t, TLS);
  const silent = connect({ host: HOST, port });
  const stuck = connect({ host: HOST, port });
  stuck.write(Buffer.from([22, 3, 1, 2, 0]));
  await until(
    () => clock.sleepers,
    (sleepers) => sleepers === 2,
  );
  const closed = [once(silent, 'close'), once(stuck, 'close')];
  clock.advance(10_000);
  await Promise.all(closed);
});

test('what is no TLS is broken off, and what comes after is served', async (t) => {
  const { port } = await startGuarded(t, TLS);
  for (const bytes of [
    [22, 255, 255, 0, 4, 1, 2, 3, 4],
    [22, 3, 1, 0, 5, 1, 0, 0, 1, 0],
  ]) {
    const socket = connect({ host: HOST, port }).on('error', () => undefined);
    socket.end(Buffer.from(bytes));
    await once(socket.resume(), 'close');
  }
  assert.equal((await askSecurely(port)).status, 200);
});

test('closing does not wait for connections that are still at the door', async (t) => {
  const { server, port, clock } = await startGuarded(t, TLS);
  const silent = connect({ host: HOST, port });
  const closed = once(silent, 'close');
  await until(
    () => clock.sleepers,
    (sleepers) => sleepers === 1,
  );
  await server[Symbol.asyncDispose]();
  await closed;
});
