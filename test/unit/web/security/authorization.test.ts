import assert from 'node:assert/strict';
import type { OutgoingHttpHeaders } from 'node:http';
import { test } from 'node:test';
import { respondText } from '../../../../src/web/http-messages.ts';
import { readIdentity } from '../../../support/fixtures.ts';
import {
  basicAuthorization,
  requestOverHttp,
  requestOverHttps,
  HASH,
  PASSWORD,
  SERVER_CERTIFICATE,
  startSecuredServer,
} from '../secured-server.ts';

const USERS = `basic_auth_users: { prometheus: ${HASH}, other: ${HASH} }\n`;

const basic = (user: string, password: string) => ({ authorization: basicAuthorization(user, password) });

test('with users, a request needs a valid password', async (t) => {
  const { port } = await startSecuredServer(t, USERS);
  const table: [description: string, headers: OutgoingHttpHeaders, status: number][] = [
    ['a valid password', basic('prometheus', PASSWORD), 200],
    ['another user with the same password', basic('other', PASSWORD), 200],
    ['a wrong password', basic('prometheus', 'sesame'), 401],
    ['a valid password up to its colon', basic('prometheus', 'open'), 401],
    ['an unknown user with a valid password', basic('unknown', PASSWORD), 401],
    ['the name of an object property', basic('constructor', PASSWORD), 401],
    ['no header', {}, 401],
    ['the hash itself', basic('prometheus', HASH), 401],
    ['another scheme', { authorization: `Bearer ${PASSWORD}` }, 401],
    ['invalid base64', { authorization: 'Basic %%%' }, 401],
    ['credentials without a colon', { authorization: 'Basic YWJj' }, 401],
    [
      'a lower-case scheme',
      { authorization: basicAuthorization('prometheus', PASSWORD).replace('Basic', 'basic') },
      200,
    ],
  ];
  for (const [description, headers, status] of table) {
    await t.test(`${description} gets ${status}`, async () => {
      const response = await requestOverHttp(port, '/metrics', { headers });
      assert.equal(response.status, status);
      const challenge = status === 401 ? 'Basic realm="xvs-exporter", charset="UTF-8"' : undefined;
      assert.equal(response.headers['www-authenticate'], challenge);
      assert.equal(response.headers['cache-control'], 'no-store');
    });
  }
});

test('every path needs a password, except open probes', async (t) => {
  const paths = ['/', '/metrics', '/nowhere', '/-/reload', '/-/', '//-/healthy', '/-/healthy', '/-/ready?x'];
  for (const hasOpenProbes of [false, true]) {
    const { port } = await startSecuredServer(t, USERS, { hasOpenProbes });
    const open = [];
    for (const path of paths) if ((await requestOverHttp(port, path)).status === 200) open.push(path);
    assert.deepEqual(open, hasOpenProbes ? ['/-/healthy', '/-/ready?x'] : []);
  }
});

test('open probes, and nothing else, accept clients without a certificate', async (t) => {
  const yml = `tls_server_config: { ${SERVER_CERTIFICATE}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert }`;
  const { port, lines } = await startSecuredServer(t, yml, { hasOpenProbes: true });
  for (const client of [{}, readIdentity('self-signed')]) {
    const statuses = [];
    for (const path of ['/-/healthy', '/metrics', '/']) {
      const { status } = await requestOverHttps(port, path, client);
      statuses.push(status);
    }
    assert.deepEqual(statuses, [200, 403, 403]);
  }
  assert.equal((await requestOverHttps(port, '/metrics', readIdentity('client'))).status, 200);
  assert.match(lines.join(''), /"reason":"no certificate","msg":"Client certificate rejected"/);
});

test('configured headers are on every response and override its own; empty ones are not set', async (t) => {
  const headers = [
    'Content-Security-Policy: "default-src \'none\'"',
    'X-Frame-Options: deny',
    'Strict-Transport-Security: max-age=60',
    'X-XSS-Protection: ""',
  ];
  const { port } = await startSecuredServer(
    t,
    `http_server_config: { headers: { ${headers.join(', ')} } }\n${USERS}`,
  );
  for (const { headers: received } of [
    await requestOverHttp(port),
    await requestOverHttp(port, '/', { headers: basic('prometheus', PASSWORD) }),
  ]) {
    assert.equal(received['content-security-policy'], "default-src 'none'");
    assert.equal(received['x-frame-options'], 'deny');
    assert.equal(received['strict-transport-security'], 'max-age=60');
    assert.equal(received['x-content-type-options'], 'nosniff');
    assert.equal('x-xss-protection' in received, false);
  }
});

test('unauthorized requests do not count against maxRequests', async (t) => {
  const { port } = await startSecuredServer(t, USERS, { maxRequests: 1 });
  const responses = await Promise.all([
    ...Array.from({ length: 5 }, () => requestOverHttp(port)),
    requestOverHttp(port, '/', { headers: basic('prometheus', PASSWORD) }),
  ]);
  assert.deepEqual(
    responses.map(({ status }) => status),
    [401, 401, 401, 401, 401, 200],
  );
});

for (const [yml, headers, isAuthenticated] of [
  ['', {}, false],
  [`basic_auth_users: { prometheus: ${HASH} }`, basic('prometheus', PASSWORD), true],
] as const) {
  test(`with the web configuration '${yml.slice(0, 16)}' requests ${isAuthenticated ? 'are' : 'are not'} authenticated`, async (t) => {
    const { port } = await startSecuredServer(t, yml, {
      handle: (webRequest) => Promise.resolve(respondText(200, String(webRequest.isAuthenticated))),
    });
    const { body } = await requestOverHttp(port, '/', { headers });
    assert.equal(body, `${isAuthenticated}\n`);
  });
}
