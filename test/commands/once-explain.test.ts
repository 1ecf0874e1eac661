import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { systemClock, type Clock } from '../../src/clock.ts';
import { explainPolls } from '../../src/commands/explain.ts';
import { parseCommandLine } from '../../src/config/command-line.ts';
import { loadConfiguration } from '../../src/config/loading.ts';
import { MACHINE_FILES } from '../../src/config/machine-files.ts';
import type { FaultRequest } from '../../src/simulator/faults.ts';
import { startSimulator, type Simulator } from '../../src/simulator/server.ts';
import { createWorld } from '../../src/simulator/world.ts';
import { sourcesOf } from '../support/configuration.ts';
import { fixture, fixturePath } from '../support/fixtures.ts';
import { serveHttp, serveHttps, serveProxy, closedPort } from '../upstream/servers.ts';

const SECRET = 'correct-horse-battery';
const ca = fixturePath('tls/ca.pem');

function identity(name: string) {
  return { cert: fixture(`tls/${name}.pem`), key: fixture(`tls/${name}.key`) };
}

async function simulator(t: TestContext): Promise<Simulator> {
  const started = await startSimulator({
    listen: { host: '127.0.0.1', port: 0 },
    world: createWorld({ seed: 3, startedAtMs: Date.now(), users: 200, tasks: 30 }),
    codes: new Map([['TESTING', SECRET]]),
    clock: systemClock,
    clockToleranceMs: 60_000,
    gzip: true,
  });
  t.after(() => started[Symbol.asyncDispose]());
  return started;
}

interface Run {
  readonly code: number;
  readonly text: string;
}

/** What `once --explain` prints of a service, and its exit code. No run may tell the secret or a signature. */
async function explain(
  baseUrl: string,
  {
    env = {},
    args = [],
    clock = systemClock,
  }: { env?: Record<string, string>; args?: readonly string[]; clock?: Clock } = {},
): Promise<Run> {
  const stdout = new PassThrough({ encoding: 'utf8' });
  const stderr = new PassThrough({ encoding: 'utf8' });
  const io = {
    stdout,
    stderr,
    clock,
    environment: { XVS_SERVICE_CODES: 'TESTING', XVS_SECRET: SECRET, ...env },
    signal: new AbortController().signal,
  };
  const { flags } = parseCommandLine([`--upstream.base-url=${baseUrl}`, '--upstream.timeout=2s', ...args]);
  const configuration = await loadConfiguration({ flags, env: io.environment, ...sourcesOf(MACHINE_FILES) });
  const build = { version: '1.2.3', revision: 'unknown', nodeVersion: 'v0' };
  const code = await explainPolls(configuration, build, io);
  const text = String(stdout.read());
  assert.equal(stderr.read(), null);
  assert.doesNotMatch(text, /correct-horse|[0-9a-f]{64}|\/live\/|rtmp:\/\/|%7B|opaque|user_name/);
  return { code, text };
}

test('a good poll is told from the request to the counts', async (t) => {
  const { url } = await simulator(t);
  const { code, text } = await explain(url);
  assert.equal(code, 0);
  for (const line of [
    /^TESTING$/m,
    / request {7}GET \/api\/20140928\/task_list\?service_code=TESTING HTTP\/1\.1$/m,
    / xvs-signature: <signature of 64 characters>$/m,
    / signed {8}\/api\/20140928\/task_listservice_code=TESTING\d{13}$/m,
    / HMAC of sha256, hex, key <secret of 21 bytes>$/m,
    / connection {4}127\.0\.0\.1:\d+ \(IPv4\), no TLS$/m,
    / clock {9}this machine and the service agree \(to 0\.5 s\)$/m,
    / answer {8}HTTP status 200, application\/json, gzip$/m,
    / ret {11}0$/m,
    / size {10}\d{5} bytes, \d{4} as they came$/m,
    / times {9}connected after \S+ ms, head of the answer after \S+ ms, over after \S+ ms$/m,
    / listing {7}\d{3} users, \d\d tasks with \d\d inputs, \d\d outputs, \d+ streams$/m,
    / result {8}good$/m,
  ]) {
    assert.match(text, line);
  }
  assert.doesNotMatch(text, /hint/);
});

const FAULTS: readonly (readonly [fault: FaultRequest, result: RegExp, hint: RegExp])[] = [
  [{ fault: 'html' }, /not_json/, /The answer is a web page/],
  [{ fault: 'empty' }, /not_json/, /The answer has no body/],
  [
    { fault: 'redirect', location: 'https://other.example.com/x?token=1' },
    /http_status/,
    /other\.example\.com:/,
  ],
  [{ fault: 'http_status', status: 503, retryAfter: '60' }, /http_status/, /fewer requests/],
  [{ fault: 'http_status', status: 401 }, /http_status/, /refused the request with HTTP status 401/],
  [{ fault: 'http_status', status: 502, body: 'html' }, /http_status/, /or a balancer before it/],
  [{ fault: 'ret', value: 77 }, /api_error/, /refused the request with ret 77/],
  [{ fault: 'bad_list', list: 'task_list' }, /bad_shape/, /JSON, but no listing/],
  [{ fault: 'huge' }, /too_large/, /raise upstream\.max_response_size/],
  [{ fault: 'refuse' }, /reset/, /may expect TLS/],
  [{ fault: 'silence_body' }, /timeout/, /The answer began but did not end in time/],
  [{ fault: 'silence' }, /timeout/, /There was a connection, but no answer in time/],
];

for (const [fault, result, hint] of FAULTS) {
  test(`${JSON.stringify(fault)}: ${hint.source}`, async (t) => {
    const { url, faults } = await simulator(t);
    faults.set(fault);
    const { code, text } = await explain(url, { args: ['--upstream.max-response-size=1MiB'] });
    assert.equal(code, 1);
    assert.match(text, new RegExp(`^  result        failed: ${result.source}\\.`, 'm'));
    assert.match(unwrapped(text), hint);
    assert.doesNotMatch(text, /token/);
  });
}

test('entries that are left out are told by kind, place and reason', async (t) => {
  const { url, faults } = await simulator(t);
  faults.set({ fault: 'bad_record', every: 10 });
  const { code, text } = await explain(url);
  assert.equal(code, 0);
  assert.match(
    text,
    /\d+ entries were left out:\n {18}user_list\[9\]: not_an_object\n {18}user_list\[19\]: /,
  );
});

for (const [name, env, hint] of [
  [
    'a wrong secret',
    { XVS_SECRET: `${SECRET}-of-another` },
    /ret 1005: mostly the secret .* The clocks agree\./,
  ],
  ['a secret in quotes', { XVS_SECRET: `"${SECRET}"` }, /The secret stands in quotes/],
  ['a service code in quotes', { XVS_SERVICE_CODES: '"TESTING"' }, /The service code stands in quotes/],
] as const) {
  test(`${name}: ${hint.source}`, async (t) => {
    const { url } = await simulator(t);
    const { code, text } = await explain(url, { env });
    assert.equal(code, 1);
    assert.match(unwrapped(text), hint);
  });
}

test('a wrong clock', async (t) => {
  const { url } = await simulator(t);
  const clock: Clock = { ...systemClock, now: () => Date.now() - 600_000 };
  const { text } = await explain(url, { clock });
  assert.match(text, /ret {11}1004\n/);
  assert.match(text, /clock {9}this machine is (?:599|600)\.\d s ± 0\.5 s behind the service\n/);
  assert.match(unwrapped(text), /are at least (?:599|600) s apart: .* Synchronise the clock/);
});

test('a base URL that has a part of the path', async (t) => {
  const url = await serveHttp(t, (_request, response) => response.writeHead(404).end());
  const { text } = await explain(`${url}/api/20140928`);
  assert.match(text, /GET \/api\/20140928\/api\/20140928\/task_list\?/);
  assert.match(unwrapped(text), /base_url already has a part of the path: "\/api\/20140928"/);
});

test('HTTPS to an HTTP port, and HTTP to an HTTPS port', async (t) => {
  const plain = await simulator(t);
  const wrongly = await explain(plain.url.replace('http:', 'https:'));
  assert.match(unwrapped(wrongly.text), /does not speak TLS/);
  const secure = await serveHttps(t, identity('server'), (_request, response) => response.end());
  const plainly = await explain(secure.replace('https:', 'http:'));
  assert.match(unwrapped(plainly.text), /may expect TLS/);
});

for (const [name, args, expected] of [
  ['server', [`--upstream.ca-file=${ca}`], /TLSv1\.3, certificate valid until \d{4}-\d\d-\d\d \(\d+ days\)/],
  ['server', [], /issued by an authority that is not trusted/],
  ['self-signed', [`--upstream.ca-file=${ca}`], /issued by an authority that is not trusted/],
  ['expired', [`--upstream.ca-file=${ca}`], /The certificate is not valid today/],
  ['wrong-host', [`--upstream.ca-file=${ca}`], /The certificate is for another host than 127\.0\.0\.1/],
] as const) {
  test(`TLS with the certificate ${name} [${args.length}]: ${expected.source}`, async (t) => {
    const url = await serveHttps(t, identity(name), (_request, response) => response.end('{}'));
    const { text } = await explain(url, { args });
    assert.match(unwrapped(text), expected);
  });
}

test('a proxy of the environment is named, where it works and where it does not, without its password', async (t) => {
  const empty = '{"ret":0,"user_list":[],"task_list":[]}';
  const url = await serveHttp(t, (_request, response) => response.end(empty));
  const { host } = new URL((await serveProxy(t)).url);
  const through = await explain(url, { env: { http_proxy: `http://user:pass-word@${host}` } });
  assert.equal(through.code, 0);
  assert.ok(through.text.includes(`through the proxy ${host}\n`));
  const nowhere = `127.0.0.1:${await closedPort()}`;
  const lost = await explain(url, { env: { HTTP_PROXY: `user:pass-word@${nowhere}` } });
  assert.ok(unwrapped(lost.text).includes(`The request went through the proxy ${nowhere}`));
  assert.doesNotMatch(through.text + lost.text, /pass-word/);
});

test('a tunnel through a proxy shows the certificate of the service', async (t) => {
  const url = await serveHttps(t, identity('server'), (_request, response) => response.end('{}'));
  const proxy = await serveProxy(t);
  const { text } = await explain(url, {
    env: { https_proxy: proxy.url },
    args: [`--upstream.ca-file=${ca}`],
  });
  assert.ok(text.includes(`through the proxy ${new URL(proxy.url).host}\n`));
  assert.match(text, /TLSv1\.3, certificate valid until/);
});

test('every service code is explained, one after the other', async (t) => {
  const { url } = await simulator(t);
  const { code, text } = await explain(url, { env: { XVS_SERVICE_CODES: 'TESTING,UNKNOWN' } });
  assert.equal(code, 1);
  assert.match(text, /^TESTING\n(?: .*\n)+\nUNKNOWN\n(?: .*\n)+$/);
});

test('a secret that somebody wrote into the template is masked there', async (t) => {
  const { url } = await simulator(t);
  const { text } = await explain(url, { args: [`--signing.template={path}{query}{timestamp}${SECRET}`] });
  assert.match(text, /service_code=TESTING\d{13}<secret>\n/);
});

/** Hints as they were before they were broken into lines. */
function unwrapped(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}
