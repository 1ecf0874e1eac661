import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import type { IncomingMessage } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listingSchema, taskSchema, userSchema } from '../../../src/listing/interface.ts';
import { createFaultRegistry, type FaultRequest } from '../../../src/simulator/faults.ts';
import { startSimulator, type Simulator } from '../../../src/simulator/server.ts';
import { createWorld } from '../../../src/simulator/world.ts';
import {
  waitForResponse,
  requestTaskList,
  readFirstChunk,
  sendRequest,
  readResponse,
  type SimulatorResponse,
} from './client.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const startedAtMs = Date.UTC(2026, 0, 1);
const testing = { serviceCode: 'TESTING', secret: 'abc', timestampMs: startedAtMs };
const other = { serviceCode: 'OTHER', secret: 'def', timestampMs: startedAtMs };
const world = createWorld({ seed: 1, startedAtMs, users: 20, tasks: 10 });

function start(clock = new ManualClock(startedAtMs), clockToleranceMs = 0): Promise<Simulator> {
  return startSimulator({
    listenAddress: { host: '127.0.0.1', port: 0 },
    world,
    secretsByServiceCode: new Map([testing, other].map(({ serviceCode, secret }) => [serviceCode, secret])),
    clock,
    clockToleranceMs,
    isGzipEnabled: true,
    isControlApiEnabled: true,
  });
}

/** Starts a simulator with one fault for all service codes. */
async function startWithFault(fault: FaultRequest, clock?: ManualClock): Promise<Simulator> {
  const simulator = await start(clock);
  simulator.faults.set(fault);
  return simulator;
}

async function requestWithFault(fault: FaultRequest): Promise<SimulatorResponse> {
  await using simulator = await startWithFault(fault);
  // Without `await`, the simulator would be disposed of before it responds.
  return await readResponse(requestTaskList(simulator, testing));
}

function parseJson(body: Buffer): Record<string, unknown> {
  return JSON.parse(body.toString());
}

/** Builds the text of the listing without faults. */
function buildListingText(): string {
  return JSON.stringify({
    ret: 0,
    user_list: [...world.users('TESTING', startedAtMs)],
    task_list: [...world.tasks('TESTING', startedAtMs)],
  });
}

for (const fault of ['refuse', 'reset_headers'] as const) {
  test(`${fault}: the connection ends without a response`, async () => {
    await using simulator = await startWithFault({ fault });
    await assert.rejects(waitForResponse(requestTaskList(simulator, testing)), { code: 'ECONNRESET' });
    assert.equal(simulator.requestCount, 1);
  });
}

test('reset_body: the connection is reset in the middle of the body', async () => {
  await using simulator = await startWithFault({ fault: 'reset_body' });
  const incoming = await waitForResponse(requestTaskList(simulator, testing));
  assert.equal(incoming.statusCode, 200);
  await assert.rejects(buffer(incoming), { code: 'ECONNRESET' });
});

/** Waits until the simulator has handled earlier requests, by a complete request on another connection. */
async function waitUntilIdle(simulator: Simulator): Promise<void> {
  simulator.faults.clear();
  await readResponse(requestTaskList(simulator, other));
}

test('silence: no response is sent', async () => {
  await using simulator = await startWithFault({ fault: 'silence' });
  const outgoing = requestTaskList(simulator, testing);
  let hasAnswer = false;
  const failed = assert.rejects(
    waitForResponse(outgoing).finally(() => {
      hasAnswer = true;
    }),
  );
  while (simulator.requestCount === 0) await nextTurn();
  await waitUntilIdle(simulator);
  assert.equal(hasAnswer, false);
  outgoing.destroy();
  await failed;
});

test('silence_body: only a part of the body is sent', async () => {
  await using simulator = await startWithFault({ fault: 'silence_body' });
  const outgoing = requestTaskList(simulator, testing);
  const incoming = await waitForResponse(outgoing);
  const part = String(await readFirstChunk(incoming));
  assert.ok(buildListingText().startsWith(part) && part.length < buildListingText().length);
  await waitUntilIdle(simulator);
  assert.equal(incoming.complete, false);
  const failed = assert.rejects(buffer(incoming));
  outgoing.destroy();
  await failed;
});

/** Collects the text of a response; the result waits until it has this length. */
function collectText(incoming: IncomingMessage) {
  let text = '';
  incoming.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return async (length: number): Promise<string> => {
    while (text.length < length) await nextTurn();
    return text;
  };
}

test('drip: one byte is sent per second', async () => {
  const clock = new ManualClock(startedAtMs);
  await using simulator = await startWithFault({ fault: 'drip' }, clock);
  const outgoing = requestTaskList(simulator, testing);
  const textOf = collectText(await waitForResponse(outgoing));
  assert.equal(await textOf(1), '{');
  assert.equal(clock.sleeperCount, 1);
  clock.advance(999);
  assert.equal(clock.sleeperCount, 1);
  clock.advance(1);
  assert.equal(await textOf(2), '{"');
  outgoing.destroy();
  while (clock.sleeperCount > 0) await nextTurn();
});

test('drip: the body is sent completely', async () => {
  const clock = new ManualClock(startedAtMs);
  await using simulator = await start(clock);
  simulator.faults.set({ fault: 'drip' });
  const incoming = await waitForResponse(requestTaskList(simulator, { ...testing, secret: 'wrong' }));
  const body = buffer(incoming);
  while (!incoming.complete) {
    clock.advance(1000);
    await nextTurn();
  }
  assert.deepEqual(parseJson(await body), { ret: 1005, user_list: [], task_list: [] });
});

test('truncate: the body ends early, with correct framing', async () => {
  for (const encoding of ['identity', 'gzip']) {
    await using simulator = await startWithFault({ fault: 'truncate' });
    const response = await fetchText(simulator, encoding);
    assert.ok(buildListingText().startsWith(response) && response.length < buildListingText().length);
  }
});

/** Decompresses the body. Rejects if it is incomplete. */
async function fetchText(simulator: Simulator, encoding: string): Promise<string> {
  const outgoing = requestTaskList(simulator, testing, { 'accept-encoding': encoding });
  const { headers, body } = await readResponse(outgoing);
  return new Response(decompress(body, headers['content-encoding'])).text();
}

function decompress(body: Buffer, encoding: string | undefined): ReadableStream | Blob {
  const blob = new Blob([Uint8Array.from(body)]);
  return encoding === 'gzip' ? blob.stream().pipeThrough(new DecompressionStream('gzip')) : blob;
}

test('http_status: a status, with Retry-After and a JSON body', async () => {
  const answer = await requestWithFault({ fault: 'http_status', status: 503, retryAfter: '5' });
  assert.equal(answer.status, 503);
  assert.equal(answer.headers['retry-after'], '5');
  assert.deepEqual(parseJson(answer.body), { ret: 503, user_list: [], task_list: [] });
});

test('http_status: a status, with an HTML body', async () => {
  const answer = await requestWithFault({ fault: 'http_status', status: 404, body: 'html' });
  assert.equal(answer.status, 404);
  assert.equal(answer.headers['retry-after'], undefined);
  assert.match(answer.body.toString(), /^<!doctype html>/);
});

test('redirect: 302 to another location', async () => {
  const answer = await requestWithFault({ fault: 'redirect', location: 'http://127.0.0.1:9/' });
  assert.equal(answer.status, 302);
  assert.equal(answer.headers.location, 'http://127.0.0.1:9/');
});

for (const value of [7, -1, '7', 'no', '0']) {
  test(`ret: ${JSON.stringify(value)}, and no entries`, async () => {
    const answer = await requestWithFault({ fault: 'ret', value });
    assert.equal(answer.status, 200);
    assert.deepEqual(parseJson(answer.body), { ret: value, user_list: [], task_list: [] });
  });
}

test('html: a page, with status 200', async () => {
  const { status, headers, body } = await requestWithFault({ fault: 'html' });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.match(body.toString(), /^<!doctype html>/);
});

test('empty: no body, with status 200', async () => {
  const { status, body } = await requestWithFault({ fault: 'empty' });
  assert.deepEqual([status, body.length], [200, 0]);
});

test('bad_gzip: plain text is declared as gzip', async () => {
  const { headers, body } = await requestWithFault({ fault: 'bad_gzip' });
  assert.equal(headers['content-encoding'], 'gzip');
  assert.equal(body.toString(), buildListingText());
});

for (const list of ['user_list', 'task_list'] as const) {
  for (const [form, value] of [
    ['missing', undefined],
    ['null', null],
    ['object', {}],
  ] as const) {
    test(`bad_list: ${list} is ${form}, the rest is valid`, async () => {
      const { body } = await requestWithFault({ fault: 'bad_list', list, form });
      const expected: Record<string, unknown> = { ...JSON.parse(buildListingText()), [list]: value };
      if (value === undefined) delete expected[list];
      assert.deepEqual(parseJson(body), expected);
    });
  }
}

for (const fault of ['bad_record', 'bad_field'] as const) {
  test(`${fault}: every third user and task is invalid, the others are unchanged`, async () => {
    const { body } = await requestWithFault({ fault, every: 3 });
    const right = listingSchema.parse(JSON.parse(buildListingText()));
    const spoiled = parseJson(body);
    for (const [name, schema] of [
      ['user_list', userSchema],
      ['task_list', taskSchema],
    ] as const) {
      const records = spoiled[name];
      assert.ok(Array.isArray(records) && records.length === right[name].length);
      records.forEach((record: unknown, index) => {
        if ((index + 1) % 3 === 0) assert.equal(schema.safeParse(record).success, false);
        else assert.deepEqual(record, right[name][index]);
      });
    }
  });
}

for (const [ms, ret] of [
  [60_000, 0],
  [60_001, 1004],
  [-60_001, 1004],
] as const) {
  test(`clock_skew: ${ms} ms with a tolerance of a minute gets ret ${ret}`, async () => {
    await using simulator = await start(undefined, 60_000);
    simulator.faults.set({ fault: 'clock_skew', ms, serviceCode: 'TESTING' });
    assert.equal(parseJson((await readResponse(requestTaskList(simulator, testing))).body)['ret'], ret);
    assert.equal(parseJson((await readResponse(requestTaskList(simulator, other))).body)['ret'], 0);
  });
}

test('huge: the number of bytes of white space precedes the listing', async () => {
  const { body } = await requestWithFault({ fault: 'huge', bytes: 1_000_000 });
  assert.equal(body.length, 1_000_000 + Buffer.byteLength(buildListingText()));
  assert.deepEqual(parseJson(body), JSON.parse(buildListingText()));
});

test('huge: without a number, the white space never ends', async () => {
  await using simulator = await startWithFault({ fault: 'huge' });
  const outgoing = requestTaskList(simulator, testing);
  let bytes = 0;
  for await (const chunk of await waitForResponse(outgoing)) {
    bytes += Buffer.isBuffer(chunk) ? chunk.length : 0;
    if (bytes > 50_000_000) break;
  }
  assert.ok(bytes > 50_000_000);
});

test('freeze_ingest: bytes do not change until it is cleared, and then continue without a jump', async () => {
  const clock = new ManualClock(startedAtMs);
  await using simulator = await start(clock);
  const bytesNow = async () => {
    const { body } = await readResponse(requestTaskList(simulator, testing));
    return new Map(
      listingSchema.parse(parseJson(body)).task_list.map((task) => [task.id, task.input_bytes ?? 0]),
    );
  };
  const before = await bytesNow();
  simulator.faults.set({ fault: 'freeze_ingest' });
  clock.advance(5000);
  // Freezing a frozen task again changes nothing.
  simulator.faults.set({ fault: 'freeze_ingest' });
  assert.deepEqual(await bytesNow(), before);
  simulator.faults.clear();
  clock.advance(1);
  for (const [id, bytes] of await bytesNow()) {
    const gained = bytes - (before.get(id) ?? 0);
    assert.ok(gained > 0 && gained < 1000, `${gained} bytes in 1 ms`);
  }
});

test('a fault for a service code overrides one for all, and affects no other code', async () => {
  await using simulator = await start();
  simulator.faults.set({ fault: 'ret', value: 1, serviceCode: 'TESTING' });
  const retOf = async (credentials: typeof testing) =>
    parseJson((await readResponse(requestTaskList(simulator, credentials))).body)['ret'];
  assert.deepEqual([await retOf(testing), await retOf(other)], [1, 0]);
  simulator.faults.set({ fault: 'ret', value: 2 });
  assert.deepEqual([await retOf(testing), await retOf(other)], [1, 2]);
  simulator.faults.clear('TESTING');
  assert.deepEqual([await retOf(testing), await retOf(other)], [2, 2]);
  simulator.faults.clear();
  assert.deepEqual([await retOf(testing), await retOf(other)], [0, 0]);
});

test('clearing a service code ends only its freezes', () => {
  const clock = new ManualClock(1000);
  const board = createFaultRegistry(clock);
  board.set({ fault: 'freeze_ingest', serviceCode: 'TESTING' });
  clock.advance(1000);
  board.set({ fault: 'freeze_ingest' });
  clock.advance(1000);
  board.clear('TESTING');
  assert.deepEqual(board.listFreezes(), [
    { serviceCode: 'TESTING', taskId: undefined, name: undefined, fromMs: 1000, toMs: 3000 },
    { serviceCode: undefined, taskId: undefined, name: undefined, fromMs: 2000, toMs: Infinity },
  ]);
  assert.deepEqual(board.listActive(), [{ fault: 'freeze_ingest' }]);
});

test('faults are set and cleared over HTTP', async () => {
  await using simulator = await start();
  const faults = async (method: string, body?: string, query = '') =>
    parseJson((await sendRequest(simulator, method, `/-/faults${query}`, body)).body);
  const status = { fault: 'http_status', status: 503, retryAfter: '5', serviceCode: 'TESTING' };
  const active = { ...status, body: 'json' };
  assert.deepEqual(await faults('PUT', JSON.stringify(status)), { faults: [active] });
  assert.equal((await readResponse(requestTaskList(simulator, testing))).status, 503);
  assert.deepEqual(await faults('DELETE', undefined, '?service_code=OTHER'), { faults: [active] });
  assert.deepEqual(await faults('DELETE'), { faults: [] });
  assert.deepEqual(await faults('GET'), { faults: [] });
  assert.equal((await readResponse(requestTaskList(simulator, testing))).status, 200);
});

for (const [name, body, message] of [
  ['no JSON', 'html', /Expected a fault as JSON/],
  ['an unknown fault', '{"fault":"flood"}', /fault/],
  ['an unknown parameter', '{"fault":"empty","status":503}', /Unrecognized key: "status"/],
  ['a wrong parameter', '{"fault":"http_status","status":"503"}', /expected number/],
] as const) {
  test(`PUT /-/faults with ${name} gets 400 with a reason, and sets no fault`, async () => {
    await using simulator = await start();
    const answer = await sendRequest(simulator, 'PUT', '/-/faults', body);
    assert.equal(answer.status, 400);
    assert.match(String(parseJson(answer.body)['error']), message);
    assert.deepEqual(simulator.faults.listActive(), []);
  });
}

test('PUT /-/faults with a body over 64 KiB gets 413, and sets no fault', async () => {
  await using simulator = await start();
  const body = `{"fault":"refuse"}${' '.repeat(64 * 1024)}`;
  assert.equal((await sendRequest(simulator, 'PUT', '/-/faults', body)).status, 413);
  assert.deepEqual(simulator.faults.listActive(), []);
});

test('/-/totals returns the totals of the world and the bytes since the start', async () => {
  const clock = new ManualClock(startedAtMs);
  await using simulator = await start(clock);
  clock.advance(60_000);
  const nowMs = clock.now();
  const { body } = await sendRequest(simulator, 'GET', '/-/totals?service_code=TESTING');
  assert.deepEqual(parseJson(body), {
    at_ms: nowMs,
    ...world.computeTotals('TESTING', nowMs),
    input_bytes_pushed: world.inputBytesPushed('TESTING', startedAtMs, nowMs),
    http_output_bytes_pushed: world.httpOutputBytesPushed('TESTING', startedAtMs, nowMs),
  });
});

for (const [method, target, status] of [
  ['GET', '/-/totals', 400],
  ['POST', '/-/faults', 404],
  ['GET', '/-/other', 404],
] as const) {
  test(`${method} ${target} gets ${status}`, async () => {
    await using simulator = await start();
    assert.equal((await sendRequest(simulator, method, target)).status, status);
    assert.equal(simulator.requestCount, 0);
  });
}
