import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { buffer, text } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { listingSchema } from '../../src/listing/interface.ts';
import { retCodes } from '../../src/simulator/admission.ts';
import { startSimulator, type Simulator } from '../../src/simulator/server.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { answered, call, send, wholeAnswer } from './client.ts';
import { ManualClock } from '../support/manual-clock.ts';

const nowMs = Date.UTC(2026, 0, 1);
const serviceCode = 'TESTING';
const secret = 'abc';
const codes = new Map([
  [serviceCode, secret],
  ['EMPTY', 'def'],
  ['A B&ü', 'ghi'],
]);
const credentials = { serviceCode, secret, timestampMs: nowMs };

function createTestWorld(users = 20, tasks = 5): World {
  return createWorld({
    seed: 1,
    startedAtMs: nowMs,
    users,
    tasks,
    sizes: new Map([['EMPTY', { users: 0, tasks: 0 }]]),
  });
}

function start(
  options: { world?: World; clockToleranceMs?: number; gzip?: boolean } = {},
): Promise<Simulator> {
  return startSimulator({
    listen: { host: '127.0.0.1', port: 0 },
    world: createTestWorld(),
    codes,
    clock: new ManualClock(nowMs),
    clockToleranceMs: 0,
    gzip: true,
    ...options,
  });
}

function parseListing(body: Buffer) {
  return listingSchema.parse(JSON.parse(body.toString()));
}

test('a call in order gets the listing of its service code at this moment', async () => {
  await using simulator = await start();
  const { status, headers, body } = await wholeAnswer(call(simulator, credentials));
  const world = createTestWorld();
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/json');
  assert.deepEqual(JSON.parse(body.toString()), {
    ret: 0,
    user_list: [...world.users(serviceCode, nowMs)],
    task_list: [...world.tasks(serviceCode, nowMs)],
  });
  assert.equal(simulator.served, 1);
});

test('a service code without users and tasks gets two empty arrays', async () => {
  await using simulator = await start();
  const { body } = await wholeAnswer(
    call(simulator, { serviceCode: 'EMPTY', secret: 'def', timestampMs: nowMs }),
  );
  assert.equal(body.toString(), '{"ret":0,"user_list":[],"task_list":[]}');
});

test('a service code that must be escaped is signed unescaped', async () => {
  await using simulator = await start();
  const escaped = { serviceCode: 'A B&ü', secret: 'ghi', timestampMs: nowMs };
  const { body } = await wholeAnswer(call(simulator, escaped));
  const listing = parseListing(body);
  assert.equal(listing.ret, 0);
  assert.ok(listing.user_list.every((user) => user.service_code === 'A B&ü'));
});

const vector = [
  'GET /api/20140928/task_list?service_code=TESTING HTTP/1.1',
  'Host: live.example.com',
  'xvs-signature: c576f321f9ad60c92d85032a99f9856b8c432cdf55f6c275b2c8a27344a5bf14',
  'xvs-timestamp: 1443494296533',
  'Connection: close',
  '',
  '',
].join('\r\n');

/** The status and `ret` of the answer to a request sent byte for byte. */
async function sendRaw(simulator: Simulator, request: string) {
  const { hostname, port } = new URL(simulator.url);
  const socket = connect(Number(port), hostname);
  socket.write(request);
  const answer = await text(socket);
  return { status: answer.slice(9, 12), ret: /"ret":(\d+)/.exec(answer)?.[1] };
}

test('the published request is in order', async () => {
  await using simulator = await start();
  assert.deepEqual(await sendRaw(simulator, vector), { status: '200', ret: '0' });
});

test('the published request with any one character changed is not', async () => {
  await using simulator = await start();
  const parts = [
    '/api/20140928/task_list',
    'service_code=TESTING',
    ...(vector.match(/[0-9a-f]{64}|\d{13}/g) ?? []),
  ];
  for (const part of parts) {
    const from = vector.indexOf(part);
    for (let at = from; at < from + part.length; at += 1) {
      const other = vector[at] === '1' ? '2' : '1';
      const changed = `${vector.slice(0, at)}${other}${vector.slice(at + 1)}`;
      assert.notEqual((await sendRaw(simulator, changed)).ret, '0', changed);
    }
  }
});

const wrongCalls: readonly (readonly [string, string, Record<string, string>, number])[] = [
  ['no query', '', {}, retCodes.missing_service_code],
  ['an empty service code', '?service_code=', {}, retCodes.missing_service_code],
  ['broken escapes', '?service_code=%E0%A4%A', {}, retCodes.missing_service_code],
  ['an unknown service code', '?service_code=OTHER', {}, retCodes.unknown_service_code],
  ['no timestamp', '?service_code=TESTING', { 'xvs-timestamp': '' }, retCodes.bad_timestamp],
  ['a timestamp in words', '?service_code=TESTING', { 'xvs-timestamp': 'now' }, retCodes.bad_timestamp],
  ['no signature', '?service_code=TESTING', { 'xvs-signature': '' }, retCodes.bad_signature],
  ['a short signature', '?service_code=TESTING', { 'xvs-signature': 'c576' }, retCodes.bad_signature],
  ['upper case', '?service_code=TESTING', { 'xvs-signature': upperCaseSignature() }, retCodes.bad_signature],
];

function upperCaseSignature(): string {
  const message = `/api/20140928/task_listservice_code=TESTING${nowMs}`;
  return createHmac('sha256', secret).update(message).digest('hex').toUpperCase();
}

for (const [name, query, headers, ret] of wrongCalls) {
  test(`a call with ${name} gets ret ${ret} and no entries`, async () => {
    await using simulator = await start();
    const outgoing = call(simulator, credentials, headers, query);
    const { status, body } = await wholeAnswer(outgoing);
    assert.equal(status, 200);
    assert.deepEqual(parseListing(body), { ret, user_list: [], task_list: [] });
  });
}

for (const [offsetMs, ret] of [
  [0, retCodes.ok],
  [-1000, retCodes.ok],
  [1000, retCodes.ok],
  [-1001, retCodes.expired],
  [1001, retCodes.expired],
] as const) {
  test(`with a tolerance of 1000 ms, a timestamp that is off by ${offsetMs} ms gets ret ${ret}`, async () => {
    await using simulator = await start({ clockToleranceMs: 1000 });
    const { body } = await wholeAnswer(call(simulator, { ...credentials, timestampMs: nowMs + offsetMs }));
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
  test(`${method} ${target} gets ${status} and is no call`, async () => {
    await using simulator = await start();
    assert.equal((await send(simulator, method, target)).status, status);
    assert.equal(simulator.served, 0);
  });
}

for (const [accepted, gzip, encoding] of [
  ['gzip, deflate', true, 'gzip'],
  ['br;q=1.0, GZIP;q=0.5', true, 'gzip'],
  ['gzip;q=0', true, undefined],
  ['br', true, undefined],
  ['gzip', false, undefined],
] as const) {
  test(`with gzip ${gzip ? 'on' : 'off'}, "${accepted}" gets ${encoding ?? 'plain text'}`, async () => {
    await using simulator = await start({ gzip });
    const { headers, body } = await wholeAnswer(
      call(simulator, credentials, { 'accept-encoding': accepted }),
    );
    assert.equal(headers['content-encoding'], encoding);
    assert.equal(parseListing(encoding === undefined ? body : gunzipSync(body)).ret, 0);
  });
}

/** Drains an answer, keeping nothing, and gives its size and the most memory that was in use meanwhile. */
async function drain(simulator: Simulator, headers: Record<string, string>) {
  const incoming = await answered(call(simulator, credentials, headers));
  let bytes = 0;
  let mostUsed = 0;
  for await (const chunk of incoming) {
    bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
    const { heapUsed, external } = process.memoryUsage();
    mostUsed = Math.max(mostUsed, heapUsed + external);
  }
  return { bytes, mostUsed };
}

for (const encoding of ['identity', 'gzip']) {
  test(`a million users are sent in bounded memory (${encoding})`, async () => {
    await using simulator = await start({ world: createTestWorld(1_000_000, 0) });
    const { heapUsed, external } = process.memoryUsage();
    const { bytes, mostUsed } = await drain(simulator, { 'accept-encoding': encoding });
    assert.ok(bytes > (encoding === 'gzip' ? 5_000_000 : 100_000_000), `${bytes} bytes`);
    const growth = mostUsed - heapUsed - external;
    assert.ok(growth < 64 * 1024 * 1024, `${Math.round(growth / 1024 / 1024)} MiB more`);
  });
}

test('disposing of the simulator cuts the calls under way and frees the address', async () => {
  const simulator = await start({ world: createTestWorld(1_000_000, 0) });
  const incoming = await answered(call(simulator, credentials));
  const cut = assert.rejects(buffer(incoming), { code: 'ECONNRESET' });
  await simulator[Symbol.asyncDispose]();
  await cut;
  const { hostname, port } = new URL(simulator.url);
  const [error] = await once(connect(Number(port), hostname), 'error');
  assert.equal(Object(error).code, 'ECONNREFUSED');
});

test('an address that is taken is an error', async () => {
  await using simulator = await start();
  const { hostname, port } = new URL(simulator.url);
  await assert.rejects(
    startSimulator({
      listen: { host: hostname, port: Number(port) },
      world: createTestWorld(),
      codes,
      clock: new ManualClock(nowMs),
      clockToleranceMs: 0,
      gzip: true,
    }),
    { code: 'EADDRINUSE' },
  );
});
