import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { RET_CODES } from '../../../src/simulator/authentication.ts';
import { startSimulator, type Simulator } from '../../../src/simulator/server.ts';
import { createWorld, type World } from '../../../src/simulator/world.ts';
import { waitForResponse, requestTaskList, sendRequest, readResponse } from './client.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const nowMs = Date.UTC(2026, 0, 1);
const serviceCode = 'TESTING';
const secret = 'abc';
const secretsByServiceCode = new Map([
  [serviceCode, secret],
  ['A B&ü', 'ghi'],
]);
const credentials = { serviceCode, secret, timestampMs: nowMs };

function createTestWorld(users = 20, tasks = 5): World {
  return createWorld({ seed: 1, startedAtMs: nowMs, users, tasks });
}

function start(
  options: { world?: World; clockToleranceMs?: number; isGzipEnabled?: boolean } = {},
): Promise<Simulator> {
  return startSimulator({
    listenAddress: { host: '127.0.0.1', port: 0 },
    world: createTestWorld(),
    secretsByServiceCode,
    clock: new ManualClock(nowMs),
    clockToleranceMs: 0,
    isGzipEnabled: true,
    ...options,
  });
}

function parseListing(body: Buffer): { ret: number; user_list: { service_code: string }[] } {
  return JSON.parse(body.toString());
}

test('a valid request gets the current listing of its service code', async () => {
  await using simulator = await start();
  const { status, headers, body } = await readResponse(requestTaskList(simulator, credentials));
  const world = createTestWorld();
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(body.toString()), {
    ret: 0,
    user_list: [...world.users(serviceCode, nowMs)],
    task_list: [...world.tasks(serviceCode, nowMs)],
  });
  assert.equal(simulator.requestCount, 1);
});

test('the signature contains the unescaped service code', async () => {
  await using simulator = await start();
  const escaped = { serviceCode: 'A B&ü', secret: 'ghi', timestampMs: nowMs };
  const { body } = await readResponse(requestTaskList(simulator, escaped));
  const listing = parseListing(body);
  assert.equal(listing.ret, 0);
  assert.ok(listing.user_list.every((user) => user.service_code === 'A B&ü'));
});

const publishedRequest = [
  'GET /api/20140928/task_list?service_code=TESTING HTTP/1.1',
  'Host: live.example.com',
  'xvs-signature: c576f321f9ad60c92d85032a99f9856b8c432cdf55f6c275b2c8a27344a5bf14',
  'xvs-timestamp: 1443494296533',
  'Connection: close',
  '',
  '',
].join('\r\n');

/** Sends a request byte for byte, and returns the status and `ret` of the response. */
async function sendRaw(simulator: Simulator, request: string) {
  const { hostname, port } = new URL(simulator.url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  const response = await text(socket);
  return { status: response.slice(9, 12), ret: /"ret":(\d+)/.exec(response)?.[1] };
}

test('the published request is accepted', async () => {
  await using simulator = await start();
  assert.deepEqual(await sendRaw(simulator, publishedRequest), { status: '200', ret: '0' });
});

test('the published request with any one character changed is rejected', async () => {
  await using simulator = await start();
  const parts = [
    '/api/20140928/task_list',
    'service_code=TESTING',
    ...(publishedRequest.match(/[0-9a-f]{64}|\d{13}/g) ?? []),
  ];
  for (const part of parts) {
    const from = publishedRequest.indexOf(part);
    for (let at = from; at < from + part.length; at += 1) {
      const other = publishedRequest[at] === '1' ? '2' : '1';
      const changed = `${publishedRequest.slice(0, at)}${other}${publishedRequest.slice(at + 1)}`;
      assert.notEqual((await sendRaw(simulator, changed)).ret, '0', changed);
    }
  }
});

const rejectedRequests: readonly (readonly [string, string, Record<string, string>, number])[] = [
  ['no query', '', {}, RET_CODES.missing_service_code],
  ['an empty service code', '?service_code=', {}, RET_CODES.missing_service_code],
  ['broken escapes', '?service_code=%E0%A4%A', {}, RET_CODES.missing_service_code],
  ['an unknown service code', '?service_code=OTHER', {}, RET_CODES.unknown_service_code],
  ['no timestamp', '?service_code=TESTING', { 'xvs-timestamp': '' }, RET_CODES.bad_timestamp],
  ['a timestamp in words', '?service_code=TESTING', { 'xvs-timestamp': 'now' }, RET_CODES.bad_timestamp],
  ['no signature', '?service_code=TESTING', { 'xvs-signature': '' }, RET_CODES.bad_signature],
  ['a short signature', '?service_code=TESTING', { 'xvs-signature': 'c576' }, RET_CODES.bad_signature],
];

for (const [name, query, headers, ret] of rejectedRequests) {
  test(`a request with ${name} gets ret ${ret} and no entries`, async () => {
    await using simulator = await start();
    const outgoing = requestTaskList(simulator, credentials, headers, query);
    const { status, body } = await readResponse(outgoing);
    assert.equal(status, 200);
    assert.deepEqual(parseListing(body), { ret, user_list: [], task_list: [] });
  });
}

for (const [offsetMs, ret] of [
  [0, RET_CODES.ok],
  [-1000, RET_CODES.ok],
  [1000, RET_CODES.ok],
  [-1001, RET_CODES.expired],
  [1001, RET_CODES.expired],
] as const) {
  test(`with a tolerance of 1000 ms, a timestamp that is off by ${offsetMs} ms gets ret ${ret}`, async () => {
    await using simulator = await start({ clockToleranceMs: 1000 });
    const { body } = await readResponse(
      requestTaskList(simulator, { ...credentials, timestampMs: nowMs + offsetMs }),
    );
    assert.equal(parseListing(body).ret, ret);
  });
}

for (const [method, target, status] of [
  ['POST', '/api/20140928/task_list?service_code=TESTING', 405],
  ['HEAD', '/api/20140928/task_list?service_code=TESTING', 405],
  ['GET', '/api/20140928/task_list/', 404],
  ['GET', '/api/20140928/task_lis', 404],
  ['GET', '/', 404],
  ['GET', '/-/faults', 404],
] as const) {
  test(`${method} ${target} gets ${status} and is not counted`, async () => {
    await using simulator = await start();
    assert.equal((await sendRequest(simulator, method, target)).status, status);
    assert.equal(simulator.requestCount, 0);
  });
}

for (const [accepted, isGzipEnabled, encoding] of [
  ['gzip, deflate', true, 'gzip'],
  ['br;q=1.0, GZIP;q=0.5', true, 'gzip'],
  ['gzip;q=0', true, undefined],
  ['br', true, undefined],
  ['gzip', false, undefined],
] as const) {
  test(`with gzip ${isGzipEnabled ? 'on' : 'off'}, "${accepted}" gets ${encoding ?? 'plain text'}`, async () => {
    await using simulator = await start({ isGzipEnabled });
    const { headers, body } = await readResponse(
      requestTaskList(simulator, credentials, { 'accept-encoding': accepted }),
    );
    assert.equal(headers['content-encoding'], encoding);
    assert.equal(parseListing(encoding === undefined ? body : gunzipSync(body)).ret, 0);
  });
}

test('disposing of the simulator resets open connections and frees the address', async () => {
  const simulator = await start({ world: createTestWorld(1_000_000, 0) });
  const incoming = await waitForResponse(requestTaskList(simulator, credentials));
  const cut = assert.rejects(buffer(incoming), { code: 'ECONNRESET' });
  await simulator[Symbol.asyncDispose]();
  await cut;
  const { hostname, port } = new URL(simulator.url);
  const [error] = await once(connect(Number(port), hostname), 'error');
  assert.equal(Object(error).code, 'ECONNREFUSED');
});
