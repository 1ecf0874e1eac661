import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FaultRegistry, type FaultRequest } from '../../../src/simulator/faults.ts';
import { startSimulator, type Simulator } from '../../../src/simulator/server.ts';
import { createWorld } from '../../../src/simulator/world.ts';
import { readResponse, requestTaskList, sendRequest, type SimulatorResponse } from './client.ts';
import { validateListing } from '../../support/listing-oracle.ts';
import { viewListing } from '../../support/listing-view.ts';
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

async function requestWithFault(fault: FaultRequest): Promise<SimulatorResponse> {
  await using simulator = await start();
  simulator.faults.set(fault);
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

for (const [fault, status, header, expected] of [
  [{ fault: 'http_status', status: 503, retryAfter: '5' }, 503, { 'retry-after': '5' }, /^{"ret":503,"user/],
  [{ fault: 'http_status', status: 404, body: 'html' }, 404, {}, /^<!doctype html>/],
  [{ fault: 'redirect', location: 'http://127.0.0.1:9/' }, 302, { location: 'http://127.0.0.1:9/' }, /^$/],
  [{ fault: 'ret', value: '7' }, 200, {}, /^{"ret":"7","user_list":\[\],"task_list":\[\]}$/],
  [{ fault: 'html' }, 200, { 'content-type': 'text/html; charset=utf-8' }, /^<!doctype html>/],
  [{ fault: 'empty' }, 200, {}, /^$/],
  [{ fault: 'bad_gzip' }, 200, { 'content-encoding': 'gzip' }, /^{"ret":0,/],
  [{ fault: 'bad_list', list: 'task_list' }, 200, {}, /^{"ret":0,"user_list":\[[^\]]*\]}$/],
  [
    { fault: 'bad_list', list: 'user_list', form: 'null' },
    200,
    {},
    /^{"ret":0,"user_list":null,"task_list":\[{/,
  ],
  [{ fault: 'bad_list', list: 'task_list', form: 'object' }, 200, {}, /}\],"task_list":{}}$/],
  [{ fault: 'huge', bytes: 100_000 }, 200, {}, /^ {100000}{"ret":0,"user_list":\[{/],
] as const satisfies readonly [FaultRequest, number, object, RegExp][]) {
  test(`the fault ${JSON.stringify(fault)} changes the response`, async () => {
    const response = await requestWithFault(fault);
    assert.equal(response.status, status);
    for (const [key, value] of Object.entries(header)) assert.equal(response.headers[key], value);
    assert.match(response.body.toString(), expected);
  });
}

for (const fault of ['bad_record', 'bad_field'] as const) {
  test(`${fault}: every third user and task is invalid, the others are unchanged`, async () => {
    const { body } = await requestWithFault({ fault, every: 3 });
    const right = JSON.parse(buildListingText());
    const { user_list: users, task_list: tasks } = JSON.parse(body.toString());
    const { invalid, invalidFields } = viewListing(validateListing(users, tasks, testing.serviceCode));
    const corrupted = Math.floor(users.length / 3) + Math.floor(tasks.length / 3);
    assert.equal(fault === 'bad_record' ? invalid.length : invalidFields.length, corrupted);
    const isKept = (_: unknown, index: number) => (index + 1) % 3 !== 0;
    assert.deepEqual(users.filter(isKept), right.user_list.filter(isKept));
    assert.deepEqual(tasks.filter(isKept), right.task_list.filter(isKept));
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
  const board = new FaultRegistry(clock);
  board.set({ fault: 'freeze_ingest', serviceCode: 'TESTING' });
  clock.advance(1000);
  board.set({ fault: 'freeze_ingest' });
  clock.advance(1000);
  board.clear('TESTING');
  assert.deepEqual(board.listFreezes(), [
    { fault: 'freeze_ingest', serviceCode: 'TESTING', fromMs: 1000, toMs: 3000 },
    { fault: 'freeze_ingest', fromMs: 2000, toMs: Infinity },
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

test('/-/totals returns the bytes since the start', async () => {
  const clock = new ManualClock(startedAtMs);
  await using simulator = await start(clock);
  clock.advance(60_000);
  const nowMs = clock.now();
  const { body } = await sendRequest(simulator, 'GET', '/-/totals?service_code=TESTING');
  const { input, httpOutput } = world.bytesPushed('TESTING', startedAtMs, nowMs);
  assert.deepEqual(parseJson(body), {
    at_ms: nowMs,
    input_bytes_pushed: input,
    http_output_bytes_pushed: httpOutput,
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
