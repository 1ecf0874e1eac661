import assert from 'node:assert/strict';
import type { ServerOptions } from 'node:https';
import { PassThrough } from 'node:stream';
import { test, type TestContext } from 'node:test';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { systemClock, type Clock } from '../../../src/runtime/clock.ts';
import { explainPolls, readDuration } from '../../../src/commands/once.ts';
import { parseCommandLine } from '../../../src/commands/command-line.ts';
import { LOCAL_FILE_SYSTEM } from '../../../src/config/file-system.ts';
import { startSimulator, type Simulator } from '../../simulator/server.ts';
import { createWorld } from '../../simulator/world.ts';
import { BUILD } from '../../support/build-info.ts';
import { createSource } from '../../support/configuration.ts';
import { fixturePath, readIdentity } from '../../support/fixtures.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { findClosedPort, serveHttp, serveHttps, serveProxy, serveRaw } from '../../support/servers.ts';

const SECRET = 'correct-horse-battery';
const CODE = { XVS_SERVICE_CODES: 'TESTING', XVS_SECRET: SECRET, XVS_UPSTREAM_TIMEOUT: '1h' };
const ca = fixturePath('tls/ca.pem');

async function startTestSimulator(t: TestContext): Promise<Simulator> {
  const started = await startSimulator({
    world: createWorld({ seed: 3, startedAtMs: Date.now(), users: 200, tasks: 30 }),
    secretsByServiceCode: new Map([['TESTING', SECRET]]),
  });
  t.after(() => started[Symbol.asyncDispose]());
  return started;
}

interface ExplainOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly clock?: Clock;
  readonly forMs?: number;
}

/** Runs `once --explain`, and checks that the report has no secret, signature or live URL. */
async function explain(
  baseUrl: string,
  { env = CODE, args = [], clock = systemClock, forMs }: ExplainOptions = {},
): Promise<{ readonly code: number; readonly text: string }> {
  const source = createSource({ env, args: [`--upstream.base-url=${baseUrl}`, ...args] }, LOCAL_FILE_SYSTEM);
  const { configuration } = await source.load();
  const stdout = new PassThrough({ encoding: 'utf8' });
  const io = { stdout, clock, signal: new AbortController().signal };
  const code = await explainPolls(configuration, BUILD, io, forMs);
  const text = String(stdout.read());
  assert.doesNotMatch(text, /correct-horse|[0-9a-f]{64}|\/live\/|rtmp:\/\/|%7B/);
  return { code, text };
}

test('a successful poll is reported from the request to the counts', async (t) => {
  const { url } = await startTestSimulator(t);
  const { code, text } = await explain(url);
  assert.equal(code, 0);
  for (const line of [
    /^TESTING$/m,
    / request {7}GET \/api\/20140928\/task_list\?service_code=TESTING HTTP\/1\.1$/m,
    / xvs-signature: <signature of 64 characters>$/m,
    / signed {8}\/api\/20140928\/task_listservice_code=TESTING\d{13}$/m,
    / HMAC of sha256, hex, key <secret of 21 bytes>$/m,
    / connection {4}127\.0\.0\.1:\d+ \(IPv4\), no TLS$/m,
    / clock {9}in sync \(within \d\.\d s\)$/m,
    / response {6}HTTP status 200, application\/json, gzip$/m,
    / ret {11}0$/m,
    / size {10}\d{5} bytes, \d{4} compressed$/m,
    / times {9}connected after \S+ ms, headers after \S+ ms, done after \S+ ms$/m,
    / task names {4}of the first tasks, by what tasks\.name can be:$/m,
    / opaque {15}\{"room":"[^"]+"\}$/m,
    / opaque\.room {10}\w+$/m,
    / output\.file_name {5}\S+$/m,
    / output\.relative_dir {2}TESTING\/\d{8}\/\S+\/$/m,
    / input\.user_name {6}\d{6}$/m,
    / listing {7}\d{3} users, \d\d tasks with \d\d inputs, \d\d outputs, \d+ streams$/m,
    / result {8}ok$/m,
  ]) {
    assert.match(text, line);
  }
  assert.doesNotMatch(text, /remedy/);
});

test('HTTPS to an HTTP port and HTTP to an HTTPS port are recognized', async (t) => {
  const plain = await startTestSimulator(t);
  const httpsReport = await explain(plain.url.replace('http:', 'https:'));
  assert.match(unwrapText(httpsReport.text), /does not speak TLS/);
  const secure = await serveHttps(t, readIdentity('server'), (_request, response) => response.end());
  const httpReport = await explain(secure.replace('https:', 'http:'));
  assert.match(unwrapText(httpReport.text), /may expect TLS/);
});

const EMPTY = JSON.stringify({ ret: 0, user_list: [], task_list: [] });
const NO_BODY = /has no body/;

for (const [name, headers, body, expected] of [
  ['an unknown content coding', { 'content-encoding': 'utf-8' }, EMPTY, /content coding .* not one/],
  ['brotli', { 'content-encoding': 'br' }, brotliCompressSync(EMPTY), /content coding .* not one/],
  [
    'gzip twice',
    { 'content-encoding': 'gzip, gzip' },
    gzipSync(gzipSync(EMPTY)),
    /content coding .* not one/,
  ],
  ['gzip without its header', {}, gzipSync(EMPTY), /is compressed with gzip, but/],
  ['the header of gzip without gzip', { 'content-encoding': 'gzip' }, EMPTY, /not compressed as/],
  [
    'a warning of PHP',
    { 'content-type': 'text/html' },
    `<br />\n<b>Warning</b>\n${EMPTY}`,
    /other text before/,
  ],
  ['a web page', { 'content-type': 'text/html' }, '<!doctype html>', /is a web page/],
  ['no body', {}, '', NO_BODY],
] as const)
  test(`the remedy for ${name} follows from the body`, async (t) => {
    const url = await serveHttp(t, (_request, response) => response.writeHead(200, headers).end(body));
    const [, remedies = ''] = unwrapText((await explain(url)).text).split(' remedy ', 2);
    assert.match(remedies, expected);
    if (expected !== NO_BODY) assert.doesNotMatch(remedies, NO_BODY);
  });

for (const [name, options, expected] of [
  ['HTTP/2 only', { ALPNProtocols: ['h2'] }, /does not offer HTTP\/1\.1/],
  ['TLS 1.1 only', { maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' }, /does not offer TLS 1\.2/],
  ['a client certificate', { maxVersion: 'TLSv1.2', requestCert: true }, /upstream\.cert_file/],
] as const)
  test(`the remedy for a server with ${name} follows from the handshake`, async (t) => {
    const settings: ServerOptions = { ...readIdentity('server'), minVersion: 'TLSv1', ...options };
    const url = await serveHttps(t, settings, (_request, response) => response.end('{}'));
    const { text } = await explain(url, { args: [`--upstream.ca-file=${ca}`] });
    assert.match(unwrapText(text), expected);
    assert.doesNotMatch(unwrapText(text), /upstream\.ca_file/);
  });

test('status 101 is an HTTP status, not a lost connection', async (t) => {
  const url = await serveRaw(t, (socket) => {
    socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
  });
  const { text } = await explain(url);
  assert.match(unwrapText(text), /failed: http_status\. Expected HTTP status 2xx, found 101/);
  assert.doesNotMatch(unwrapText(text), /expect TLS/);
});

for (const [name, args, expected] of [
  ['server', [`--upstream.ca-file=${ca}`], /TLSv1\.3, certificate valid until \d{4}-\d\d-\d\d \(\d+ days\)/],
  ['server', [], /untrusted authority\. .* upstream\.ca_file\. .* openssl s_client .*127\.0\.0\.1:\d+$/],
  ['expired', [`--upstream.ca-file=${ca}`], /is expired or not yet valid/],
  ['wrong-host', [`--upstream.ca-file=${ca}`], /not issued for 127\.0\.0\.1:\d+\. .* openssl s_client /],
] as const) {
  test(`TLS with the certificate ${name} [${args.length}]: ${expected.source}`, async (t) => {
    const url = await serveHttps(t, readIdentity(name), (_request, response) => response.end('{}'));
    const { text } = await explain(url, { args });
    assert.match(unwrapText(text).trim(), expected);
  });
}

test('a working or failing proxy of the environment is reported without its password', async (t) => {
  const empty = '{"ret":0,"user_list":[],"task_list":[]}';
  const url = await serveHttp(t, (_request, response) => response.end(empty));
  const { host } = new URL((await serveProxy(t)).url);
  const working = await explain(url, { env: { ...CODE, http_proxy: `http://user:pass-word@${host}` } });
  assert.equal(working.code, 0);
  assert.ok(working.text.includes(`through the proxy ${host}\n`));
  const closed = `127.0.0.1:${await findClosedPort()}`;
  const failing = await explain(url, { env: { ...CODE, HTTP_PROXY: `user:pass-word@${closed}` } });
  assert.ok(unwrapText(failing.text).includes(`The request went through the proxy ${closed}`));
  assert.doesNotMatch(working.text + failing.text, /pass-word/);
  assert.doesNotMatch(working.text, /not sent/);
  assert.match(failing.text, /request {7}signed, but not sent/);
});

test('the report of a proxy tunnel shows the certificate of the service', async (t) => {
  const url = await serveHttps(t, readIdentity('server'), (_request, response) => response.end('{}'));
  const proxy = await serveProxy(t);
  const { text } = await explain(url, {
    env: { ...CODE, https_proxy: proxy.url },
    args: [`--upstream.ca-file=${ca}`],
  });
  assert.ok(text.includes(`through the proxy ${new URL(proxy.url).host}\n`));
  assert.match(text, /TLSv1\.3, certificate valid until/);
  assert.doesNotMatch(text, /not sent/);
  const untrusted = await explain(url, { env: { ...CODE, https_proxy: proxy.url } });
  assert.match(untrusted.text, /request {7}signed, but not sent/);
});

test('every service code has a report', async (t) => {
  const { url } = await startTestSimulator(t);
  const { code, text } = await explain(url, { env: { ...CODE, XVS_SERVICE_CODES: 'TESTING,UNKNOWN' } });
  assert.equal(code, 1);
  assert.match(text, /^TESTING\n(?: .*\n)+\nUNKNOWN\n(?: .*\n)+$/);
});

/** Joins the lines of wrapped remedies. */
function unwrapText(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** A service with tasks whose inputs grow from poll to poll; the output of `waits` leaps beyond any rate. */
async function serveStreams(t: TestContext): Promise<string> {
  let polls = 0;
  return await serveHttp(t, (_request, response) => {
    polls += 1;
    const createTask = (name: string, outputBytes: number) => {
      const outputs = [{ format: 'flv', http_output_bytes: outputBytes, http_connections_num: 3 }];
      return { id: name, opaque: name, input_bytes: 3_750_000 * polls, outputs };
    };
    const tasks = [createTask('main', 0), createTask('waits', 1e12 * polls)];
    response.end(JSON.stringify({ ret: 0, user_list: [], task_list: tasks }));
  });
}

for (const [expectation, forMs, lines] of [
  [
    '{ names: [{ name: main, min_input_rate: 2Mbit/s, outputs: 2 }, backup] }',
    undefined,
    [
      '  expected      main    up, rate unknown (use --for=30s) of at least 2.00 Mbit/s, outputs 1, below 2, connections 3',
      '                backup  missing',
    ],
  ],
  [
    '{ names: [{ name: main, min_input_rate: 2Mbit/s, outputs: 1 }] }',
    30_000,
    ['  expected      main  up, 1.00 Mbit/s, below 2.00 Mbit/s, outputs 1, connections 3'],
  ],
  [
    '{ names: [{ name: main, min_input_rate: 1Mbit/s }] }',
    30_000,
    ['  expected      main  up, 1.00 Mbit/s of at least 1.00 Mbit/s, outputs 1, connections 3'],
  ],
  [
    '{ names: [{ name: waits, min_input_rate: 2Mbit/s }] }',
    30_000,
    [
      '  expected      waits  up, 1.00 Mbit/s of at least 2.00 Mbit/s, 1 byte counts wait, outputs 1, connections 3',
    ],
  ],
  ['{ tasks: 3 }', 30_000, []],
] as const)
  test(`with expect ${expectation}, the report says what was found of each name`, async (t) => {
    using folder = new TemporaryFolder();
    const codes = `[{ service_code: TESTING, secret: ${SECRET}, expect: ${expectation} }]`;
    folder.replace('config.yml', `tasks: { name: opaque }\nservice_codes: ${codes}\n`);
    let sleptMs = 0;
    const clock: Clock = {
      ...systemClock,
      monotonic: () => sleptMs,
      sleep: (ms, signal) => {
        if (ms !== forMs) return systemClock.sleep(ms, signal);
        sleptMs += ms;
        return Promise.resolve();
      },
    };
    const { code, text } = await explain(await serveStreams(t), {
      env: {},
      args: [`--config.file=${folder.at('config.yml')}`],
      clock,
      ...(forMs !== undefined && { forMs }),
    });
    assert.equal(code, 0);
    assert.deepEqual(
      text.split('\n').filter((line) => / expected | missing$/.test(line)),
      lines,
    );
    assert.equal(sleptMs, lines.length === 1 ? 30_000 : 0);
  });

test('--for takes a duration', () => {
  const read = (...args: readonly string[]) => readDuration(parseCommandLine(args, { for: 'value' }).others);
  assert.deepEqual([read(), read('--for=30s'), read('--for', '2m')], [undefined, 30_000, 120_000]);
  for (const text of ['30', '0s', 'soon'])
    assert.throws(() => read(`--for=${text}`), {
      message: new RegExp(`--for: expected a duration.*${text}`, 'i'),
    });
});
