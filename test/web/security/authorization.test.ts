import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { OutgoingHttpHeaders } from 'node:http';
import { Agent, request as secureRequest } from 'node:https';
import { test } from 'node:test';
import { TLSSocket } from 'node:tls';
import { fixture } from '../support/fixtures.ts';
import { answerTo, askSecurely, clientCertificate, HASH, PASSWORD, SERVER, startGuarded } from './guarded.ts';
import type { Answer } from './guarded.ts';

const USERS = `basic_auth_users: { prometheus: ${HASH}, other: ${HASH} }\n`;

/** A request by plain HTTP. */
async function ask(port: number, path = '/metrics', headers: OutgoingHttpHeaders = {}): Promise<Answer> {
  return await answerTo(request({ host: '127.0.0.1', port, path, headers, agent: false }).end());
}

function basic(user: string, password: string): OutgoingHttpHeaders {
  return { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}` };
}

test('with users, only they get in', async (t) => {
  const { port } = await startGuarded(t, USERS);
  const table: [what: string, headers: OutgoingHttpHeaders, status: number][] = [
    ['a right password', basic('prometheus', PASSWORD), 200],
    ['the same again', basic('prometheus', PASSWORD), 200],
    ['another user with it', basic('other', PASSWORD), 200],
    ['a wrong password', basic('prometheus', 'sesame'), 401],
    ['a part of a right one, before its colon', basic('prometheus', 'open'), 401],
    ['an unknown user with a right one', basic('nobody', PASSWORD), 401],
    ['no user', basic('', PASSWORD), 401],
    ['a property that objects have', basic('constructor', PASSWORD), 401],
    ['nothing', {}, 401],
    ['the hash itself', basic('prometheus', HASH), 401],
    ['another scheme', { authorization: `Bearer ${PASSWORD}` }, 401],
    ['no base64', { authorization: 'Basic %%%' }, 401],
    ['no colon', { authorization: 'Basic YWJj' }, 401],
    [
      'a scheme in small letters',
      { authorization: String(basic('prometheus', PASSWORD)['authorization']).replace('Basic', 'basic') },
      200,
    ],
  ];
  for (const [what, headers, status] of table) {
    await t.test(`${what} is answered with ${status}`, async () => {
      const answer = await ask(port, '/metrics', headers);
      assert.equal(answer.status, status);
      const challenge = status === 401 ? 'Basic realm="xvs-exporter", charset="UTF-8"' : undefined;
      assert.equal(answer.headers['www-authenticate'], challenge);
      assert.equal(answer.headers['cache-control'], 'no-store');
    });
  }
});

test('every path asks for a password, probes too; they are open where that is set', async (t) => {
  const paths = ['/', '/metrics', '/nowhere', '/-/reload', '/-/', '//-/healthy', '/-/healthy', '/-/ready?x'];
  for (const opensProbes of [false, true]) {
    const { port } = await startGuarded(t, USERS, { opensProbes });
    const open = [];
    for (const path of paths) if ((await ask(port, path)).status === 200) open.push(path);
    assert.deepEqual(open, opensProbes ? ['/-/healthy', '/-/ready?x'] : []);
  }
});

test('open probes are open to clients without a certificate, and nothing else is', async (t) => {
  const yml = `tls_server_config: { ${SERVER}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert }`;
  const { port, lines } = await startGuarded(t, yml, { opensProbes: true });
  for (const client of [{}, clientCertificate('self-signed')]) {
    const statuses = [];
    for (const path of ['/-/healthy', '/metrics', '/']) {
      const { status } = await askSecurely(port, path, client);
      statuses.push(status);
    }
    assert.deepEqual(statuses, [200, 403, 403]);
  }
  assert.equal((await askSecurely(port, '/metrics', clientCertificate('client'))).status, 200);
  assert.match(lines.join(''), /"found":"no certificate","msg":"Client certificate refused"/);
});

test('a session that is resumed lets in whom it let in before, and no one else', async (t) => {
  const yml = `tls_server_config: { ${SERVER}, client_ca_file: ca.pem, client_auth_type: RequireAndVerifyClientCert }`;
  const { port } = await startGuarded(t, yml, { opensProbes: true });
  const ca = fixture('tls/ca.pem');
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
    for (const [name, expected] of [
      ['client', 200],
      ['self-signed', 403],
    ] as const) {
      const agent = new Agent({ maxCachedSessions: 10, maxVersion, ca, ...clientCertificate(name) });
      const seen = [];
      for (let visit = 0; visit < 3; visit += 1) {
        const outgoing = secureRequest({ host: '127.0.0.1', port, path: '/metrics', agent });
        const [socket]: unknown[] = await once(outgoing, 'socket');
        const { status } = await answerTo(outgoing.end());
        assert.ok(socket instanceof TLSSocket);
        seen.push([status, socket.isSessionReused()]);
      }
      assert.deepEqual(seen, [
        [expected, false],
        [expected, true],
        [expected, true],
      ]);
    }
  }
});

test('more requests than the rate limit are answered with 429, until the interval has passed', async (t) => {
  const { port, clock } = await startGuarded(t, 'rate_limit: { interval: 100ms, burst: 2 }\n');
  const statuses = [];
  for (const ms of [0, 0, 0, 99, 1, 500, 0, 0]) {
    clock.advance(ms);
    const { status } = await ask(port);
    statuses.push(status);
  }
  assert.deepEqual(statuses, [200, 200, 429, 429, 200, 200, 200, 429]);
});

test('the rate is limited before passwords are compared, and counts for open probes only', async (t) => {
  const { port } = await startGuarded(t, `rate_limit: { interval: 1h, burst: 1 }\n${USERS}`, {
    opensProbes: true,
  });
  const statuses = [];
  for (const path of ['/metrics', '/metrics', '/-/healthy']) {
    const { status } = await ask(port, path);
    statuses.push(status);
  }
  assert.deepEqual(statuses, [401, 429, 200]);
});

test('headers of the configuration are on every answer, instead of our own; blank ones are not set', async (t) => {
  const headers = [
    'Content-Security-Policy: "default-src \'none\'"',
    'X-Frame-Options: deny',
    'Strict-Transport-Security: max-age=60',
    'X-XSS-Protection: ""',
  ];
  const { port } = await startGuarded(
    t,
    `http_server_config: { headers: { ${headers.join(', ')} } }\n${USERS}`,
  );
  for (const answer of [await ask(port), await ask(port, '/', basic('prometheus', PASSWORD))]) {
    assert.equal(answer.headers['content-security-policy'], "default-src 'none'");
    assert.equal(answer.headers['x-frame-options'], 'deny');
    assert.equal(answer.headers['strict-transport-security'], 'max-age=60');
    assert.equal(answer.headers['x-content-type-options'], 'nosniff');
    assert.equal('x-xss-protection' in answer.headers, false);
  }
});

test('users and headers change with the file, on connections that stay', async (t) => {
  const { port, write } = await startGuarded(t, USERS);
  const headers = basic('prometheus', PASSWORD);
  assert.equal((await ask(port, '/', headers)).status, 200);
  write(`basic_auth_users: { other: ${HASH} }\n`);
  assert.equal((await ask(port, '/', headers)).status, 401);
  assert.equal((await ask(port, '/', basic('other', PASSWORD))).status, 200);
});

test('who is refused takes no place of those who may ask', async (t) => {
  const { port } = await startGuarded(t, USERS, { maxRequests: 1 });
  const answers = await Promise.all([
    ...Array.from({ length: 5 }, () => ask(port)),
    ask(port, '/', basic('prometheus', PASSWORD)),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [401, 401, 401, 401, 401, 200],
  );
});
