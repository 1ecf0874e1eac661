/**
 * The situations of the tests of prometheus/exporter-toolkit (`web/tls_config_test.go`), rewritten: whether a server with
 * this file starts, whether the handshake succeeds, and the status of the request. If the exporter differs, the situation
 * has the result of the toolkit; docs/web.md explains the differences.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { RequestOptions } from 'node:https';
import { connect } from 'node:tls';
import { test, type TestContext } from 'node:test';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { readFixture } from '../../../support/fixtures.ts';
import {
  clientCertificate,
  HASH,
  PASSWORD,
  readResponse,
  requestOverHttps,
  SERVER_CERTIFICATE,
  startSecuredServer,
} from '../secured-server.ts';

const HOST = '127.0.0.1';
const tls = (more = ''): string => `tls_server_config: { ${SERVER_CERTIFICATE}${more && `, ${more}`} }\n`;
const inline = (name: string): string => JSON.stringify(readFixture(`tls/${name}`).toString());

interface RefusedSituation {
  readonly name: string;
  readonly yml: string;
  /** The expected part of the error message. */
  readonly message: RegExp;
  readonly toolkit?: 'starts';
}

const REFUSED: readonly RefusedSituation[] = [
  { name: 'text that is not a mapping', yml: 'hello', message: /expected a mapping, found a string/ },
  { name: 'an unknown key', yml: 'tls_config: {}', message: /expected a known key/ },
  ...(['', 'cert_file: "", ', 'cert: "", '] as const).map((cert) => ({
    name: `no certificate (${cert || 'no key'})`,
    yml: `tls_server_config: { ${cert}key_file: server.key }`,
    message: /expected cert_file \(or cert\), found neither/,
  })),
  ...(['', 'key_file: "", ', 'key: "", '] as const).map((key) => ({
    name: `no key (${key || 'no key'})`,
    yml: `tls_server_config: { ${key}cert_file: server.pem }`,
    message: /expected key_file \(or key\), found neither/,
  })),
  {
    name: 'an empty certificate and an empty key, with client authentication',
    yml: 'tls_server_config: { cert_file: "", key_file: "", client_auth_type: RequireAnyClientCert }',
    message: /expected cert_file \(or cert\), found neither/,
  },
  {
    name: 'a certificate that does not exist',
    yml: 'tls_server_config: { cert_file: none.pem, key_file: server.key }',
    message: /cert_file: expected a readable file, found .*does not exist/,
  },
  {
    name: 'a key that does not exist',
    yml: 'tls_server_config: { cert_file: server.pem, key_file: none.key }',
    message: /key_file: expected a readable file, found .*does not exist/,
  },
  {
    name: 'a certificate and a key that do not exist',
    yml: 'tls_server_config: { cert_file: none.pem, key_file: none.key }',
    message: /cert_file: expected a readable file, found .*does not exist/,
  },
  {
    name: 'a client CA without client authentication',
    yml: tls('client_ca_file: ca.pem'),
    message: /expected a client_auth_type for the client CA/,
  },
  {
    name: 'an inline client CA without client authentication',
    yml: tls(`client_ca: ${inline('ca.pem')}`),
    message: /expected a client_auth_type for the client CA/,
  },
  {
    name: 'a client CA that does not exist',
    yml: tls('client_auth_type: RequireAndVerifyClientCert, client_ca_file: none.pem'),
    message: /client_ca_file: expected a readable file, found .*does not exist/,
  },
  {
    name: 'a client CA file without a certificate',
    yml: tls('client_auth_type: RequireAndVerifyClientCert, client_ca_file: server.key'),
    message: /client_ca_file: expected a PEM file with a CERTIFICATE/,
  },
  {
    name: 'an inline client CA without a certificate',
    yml: tls('client_auth_type: RequireAndVerifyClientCert, client_ca: none'),
    message: /client_ca: expected .*CERTIFICATE/,
  },
  {
    name: 'an unknown kind of client authentication',
    yml: tls('client_auth_type: RequireSomething'),
    message: /client_auth_type: expected one of NoClientCert/,
  },
  {
    name: 'names of clients without client authentication',
    yml: tls('client_allowed_sans: [a]'),
    message: /expected RequireAnyClientCert or RequireAndVerifyClientCert for client_allowed_sans/,
  },
  {
    name: 'names of clients with an optional certificate',
    yml: tls('client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem, client_allowed_sans: [a]'),
    message: /expected RequireAnyClientCert or RequireAndVerifyClientCert for client_allowed_sans/,
  },
  {
    name: 'a password that is not hashed',
    yml: 'basic_auth_users: { alice: secret }',
    message: /basic_auth_users: expected a bcrypt hash/,
  },
  {
    name: 'an invented cipher suite',
    yml: tls('cipher_suites: [TLS_ECDHE_WITH_NOTHING]'),
    message: /cipher_suites: expected one of /,
  },
  {
    name: 'an invented curve',
    yml: tls('curve_preferences: [CurveP9]'),
    message: /curve_preferences: expected one of CurveP256/,
  },
  { name: 'an invented TLS version', yml: tls('min_version: TLS99'), message: /expected TLS12 or TLS13/ },
  {
    name: 'TLS 1.0',
    yml: tls('min_version: TLS10'),
    message: /expected TLS12 or TLS13, found "TLS10", which is insecure/,
    toolkit: 'starts',
  },
  {
    name: 'TLS 1.1',
    yml: tls('min_version: TLS11'),
    message: /expected TLS12 or TLS13, found "TLS11", which is insecure/,
    toolkit: 'starts',
  },
  {
    name: 'a cipher suite without forward secrecy',
    yml: tls('cipher_suites: [TLS_RSA_WITH_AES_128_GCM_SHA256]'),
    message: /cipher_suites: expected one of /,
    toolkit: 'starts',
  },
  ...['X-Content-Type-Options', 'X-Frame-Options'].map((name) => ({
    name: `an unsupported value of ${name}`,
    yml: `http_server_config: { headers: { ${name}: maybe } }`,
    message: new RegExp(`headers\\.${name}: expected one of `),
  })),
  {
    name: 'a header that is not configurable',
    yml: 'http_server_config: { headers: { Content-Type: text/html } }',
    message: /headers: expected a known key/,
  },
];

for (const { name, yml, message, toolkit } of REFUSED) {
  test(`a server with ${name} does not start${toolkit === undefined ? '' : ', unlike the toolkit'}`, async (t) => {
    await assert.rejects(startSecuredServer(t, yml), (error) => {
      assert.ok(error instanceof ConfigError);
      assert.match(error.message, message);
      return true;
    });
  });
}

type Outcome = number | 'no handshake';

interface StartedSituation {
  readonly name: string;
  readonly yml: string;
  readonly client?: RequestOptions;
  readonly scheme?: 'http' | 'https';
  readonly outcome: Outcome;
  /** How the toolkit differs. */
  readonly toolkit?: 'does not start';
}

const basic = (user: string, password: string): RequestOptions => ({ auth: `${user}:${password}` });
const TLS_1_2 = { maxVersion: 'TLSv1.2' } as const;
const SUITES =
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA, TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA, TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, TLS_AES_128_GCM_SHA256, TLS_AES_256_GCM_SHA384, TLS_CHACHA20_POLY1305_SHA256';
const SOME_SUITES =
  'cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]';
const SOME_CURVES = 'curve_preferences: [CurveP521]';
const ALICE = `basic_auth_users: { alice: ${HASH}, bob: ${HASH} }\n`;
const VERIFIED = 'client_auth_type: RequireAndVerifyClientCert, client_ca_file: ca.pem';

const STARTED: readonly StartedSituation[] = [
  { name: 'an empty file', yml: '', scheme: 'http', outcome: 200 },
  { name: 'an empty file and a TLS client', yml: '', outcome: 'no handshake' },
  { name: 'TLS and a plain client', yml: tls(), scheme: 'http', outcome: 400 },
  { name: 'TLS', yml: tls(), outcome: 200 },
  {
    name: 'an inline certificate and key',
    yml: `tls_server_config: { cert: ${inline('server.pem')}, key: ${inline('server.key')} }`,
    outcome: 200,
  },
  {
    name: 'a certificate file and an inline key',
    yml: `tls_server_config: { cert_file: server.pem, key: ${inline('server.key')} }`,
    outcome: 200,
  },
  {
    name: 'TLS and a client of TLS 1.1',
    yml: tls(),
    client: { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    outcome: 'no handshake',
  },
  { name: 'all cipher suites', yml: tls(`cipher_suites: [${SUITES}]`), client: TLS_1_2, outcome: 200 },
  {
    name: 'some cipher suites, one of which the client supports',
    yml: tls(SOME_SUITES),
    client: { ...TLS_1_2, ciphers: 'ECDHE-ECDSA-AES128-GCM-SHA256' },
    outcome: 200,
  },
  {
    name: 'some cipher suites, none of which the client supports',
    yml: tls(SOME_SUITES),
    client: { ...TLS_1_2, ciphers: 'ECDHE-ECDSA-AES256-SHA' },
    outcome: 'no handshake',
  },
  {
    name: 'all curves',
    yml: tls('curve_preferences: [CurveP256, CurveP384, CurveP521, X25519]'),
    outcome: 200,
  },
  {
    name: 'a curve that the client knows',
    yml: tls(SOME_CURVES),
    client: { ecdhCurve: 'P-521' },
    outcome: 200,
  },
  {
    name: 'a curve that the client does not know',
    yml: tls(SOME_CURVES),
    client: { ecdhCurve: 'P-384' },
    outcome: 'no handshake',
  },
  {
    name: 'a cipher suite that HTTP/2 forbids, without HTTP/2',
    yml: `${tls('cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA]')}http_server_config: { http2: false }\n`,
    client: TLS_1_2,
    outcome: 200,
  },
  {
    name: 'a cipher suite that HTTP/2 forbids, with HTTP/2, which the exporter does not serve',
    yml: `${tls('cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA]')}http_server_config: { http2: true }\n`,
    client: TLS_1_2,
    outcome: 200,
    toolkit: 'does not start',
  },
  {
    name: 'every configurable header',
    yml: 'http_server_config: { headers: { Strict-Transport-Security: max-age=1, X-Content-Type-Options: nosniff, X-Frame-Options: deny, X-XSS-Protection: "1", Content-Security-Policy: "default-src \'self\'" } }\n',
    scheme: 'http',
    outcome: 200,
  },
  ...(
    [
      ['RequireAnyClientCert', 'self-signed', 200],
      ['RequireAnyClientCert', undefined, 'no handshake'],
      ['RequireAndVerifyClientCert, client_ca_file: ca.pem', 'client', 200],
      ['RequireAndVerifyClientCert, client_ca_file: ca.pem', 'self-signed', 'no handshake'],
      ['RequireAndVerifyClientCert, client_ca_file: ca.pem', undefined, 'no handshake'],
      ['VerifyClientCertIfGiven, client_ca_file: ca.pem', undefined, 200],
      ['VerifyClientCertIfGiven, client_ca_file: ca.pem', 'self-signed', 'no handshake'],
      ['RequestClientCert', undefined, 200],
      ['NoClientCert', 'self-signed', 200],
    ] as const
  ).map(([type, certificate, outcome]) => ({
    name: `client_auth_type ${type} and ${certificate === undefined ? 'no' : `the ${certificate}`} certificate`,
    yml: tls(`client_auth_type: ${type}`),
    client: certificate === undefined ? {} : clientCertificate(certificate),
    outcome,
  })),
  {
    name: 'an inline client CA',
    yml: tls(`client_auth_type: RequireAndVerifyClientCert, client_ca: ${inline('ca.pem')}`),
    client: clientCertificate('client'),
    outcome: 200,
  },
  {
    name: 'an allowed client name',
    yml: tls(`${VERIFIED}, client_allowed_sans: [other.invalid, elsewhere.invalid]`),
    client: clientCertificate('wrong-host'),
    outcome: 200,
  },
  {
    name: 'a client name that is not allowed',
    yml: tls(`${VERIFIED}, client_allowed_sans: [other.invalid]`),
    client: clientCertificate('wrong-host'),
    outcome: 'no handshake',
  },
  ...(['http', 'https'] as const).flatMap((scheme) => {
    const yml = (scheme === 'https' ? tls() : '') + ALICE;
    return [
      { name: `users over ${scheme} and no password`, yml, scheme, outcome: 401 },
      {
        name: `a valid password over ${scheme}`,
        yml,
        scheme,
        client: basic('alice', PASSWORD),
        outcome: 200,
      },
      { name: `another user over ${scheme}`, yml, scheme, client: basic('bob', PASSWORD), outcome: 200 },
      { name: `a wrong password over ${scheme}`, yml, scheme, client: basic('alice', 'x'), outcome: 401 },
      { name: `a wrong user over ${scheme}`, yml, scheme, client: basic('carol', PASSWORD), outcome: 401 },
    ] as const;
  }),
];

async function findOutcome(port: number, scheme: 'http' | 'https', client: RequestOptions): Promise<Outcome> {
  try {
    const { status } =
      scheme === 'https'
        ? await requestOverHttps(port, '/', client)
        : await readResponse(request({ host: HOST, port, agent: false, ...client }).end());
    return status ?? 'no handshake';
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, String(error));
    return 'no handshake';
  }
}

for (const { name, yml, client = {}, scheme = 'https', outcome, toolkit } of STARTED) {
  const difference = toolkit === undefined ? '' : `, but the toolkit ${toolkit}`;
  test(`a server with ${name}: ${outcome}${difference}`, async (t) => {
    const { port } = await startSecuredServer(t, yml);
    assert.equal(await findOutcome(port, scheme, client), outcome);
  });
}

async function negotiateCipher(t: TestContext, order: string): Promise<string> {
  const { port } = await startSecuredServer(t, tls(`${SOME_SUITES}, ${order}`));
  const socket = connect({
    host: HOST,
    port,
    ca: readFixture('tls/ca.pem'),
    maxVersion: 'TLSv1.2',
    ciphers: 'ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256',
  });
  await once(socket, 'secureConnect');
  const { name } = socket.getCipher();
  socket.destroy();
  return name;
}

test('prefer_server_cipher_suites decides whose order of cipher suites counts', async (t) => {
  assert.equal(
    await negotiateCipher(t, 'prefer_server_cipher_suites: true'),
    'ECDHE-ECDSA-AES128-GCM-SHA256',
  );
  assert.equal(
    await negotiateCipher(t, 'prefer_server_cipher_suites: false'),
    'ECDHE-ECDSA-AES256-GCM-SHA384',
  );
});

for (const [yml, statuses] of [
  ['rate_limit: { interval: 0, burst: 1 }\n', [200]],
  ['rate_limit: { interval: 1s, burst: 1 }\n', [200, 429]],
] as const) {
  test(`ten requests at once with '${yml.trim()}' get ${statuses.join(' or ')}`, async (t) => {
    const { port } = await startSecuredServer(t, yml);
    const found = [];
    for (let count = 0; count < 10; count += 1) found.push(await findOutcome(port, 'http', {}));
    assert.deepEqual([...new Set(found)], statuses);
  });
}

test('a reload that requires client certificates applies to the next connection', async (t) => {
  const { port, write } = await startSecuredServer(
    t,
    tls('client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem'),
  );
  assert.equal(await findOutcome(port, 'https', {}), 200);
  await write(tls(VERIFIED));
  assert.equal(await findOutcome(port, 'https', {}), 'no handshake');
});

test('a reload that no longer requires client certificates is not applied, unlike in the toolkit', async (t) => {
  const { port, write } = await startSecuredServer(t, tls(VERIFIED));
  assert.equal(await findOutcome(port, 'https', {}), 'no handshake');
  await write(tls('client_auth_type: VerifyClientCertIfGiven, client_ca_file: ca.pem'));
  assert.equal(await findOutcome(port, 'https', {}), 'no handshake');
});
