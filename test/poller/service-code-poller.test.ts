import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PollMetrics } from '../../src/metrics/self.ts';
import { PollChanges } from '../../src/poller/changes.ts';
import { ServiceCodePoller } from '../../src/poller/service-code-poller.ts';
import { Store } from '../../src/poller/store.ts';
import { Tally } from '../../src/tally/tally.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { recordingLogger } from '../support/recording-logger.ts';
import { ScriptedClient, TARGET } from '../support/scripted-client.ts';

const START_MS = Date.UTC(2026, 0, 1);
const INTERVAL_MS = 15_000;
const listing = (bytes: number): string =>
  `{"ret":0,"user_list":[{}],"task_list":[{"id":"t","vs_id":"s","input_bytes":${bytes},"inputs":[],"outputs":[]}]}`;

/** Metrics that only note what they were told. */
class NotedMetrics implements PollMetrics {
  readonly notes: string[] = [];
  started = (): void => void this.notes.push('started');
  succeeded = (): void => void this.notes.push('succeeded');
  failed = (reason: string): void => void this.notes.push(`failed ${reason}`);
  skipped = (reason: string): void => void this.notes.push(`skipped ${reason}`);
  responseBytes = (): void => undefined;
  invalidRecord = (record: string, reason: string, count: number): void =>
    void this.notes.push(`${count} ${record} ${reason}`);
}

let clock: ManualClock;
let client: ScriptedClient;
let store: Store;
let metrics: NotedMetrics;
let poller: ServiceCodePoller;
let stop: AbortController;
let loop: Promise<unknown>;

beforeEach(() => {
  clock = new ManualClock(START_MS);
  client = new ScriptedClient();
  store = new Store();
  metrics = new NotedMetrics();
  stop = new AbortController();
  loop = Promise.resolve();
  poller = new ServiceCodePoller({
    target: TARGET,
    intervalMs: INTERVAL_MS,
    staleAfterMs: 3 * INTERVAL_MS,
    client,
    store,
    metrics,
    clock,
    tally: new Tally({
      serviceCode: 'TESTING',
      maxLabelSets: 10,
      stallAfterMs: 60_000,
      perTask: false,
      maxTasks: 1,
    }),
    changes: new PollChanges(recordingLogger().logger),
  });
});

afterEach(async () => {
  stop.abort();
  await loop;
  assert.equal(clock.sleepers, 0, 'Expected no wait to go on after the end');
});

/** Starts the loop; what it rejects with is its result. */
function run(firstDelayMs = 0): void {
  loop = poller.run(firstDelayMs, stop.signal).catch((error: unknown) => error);
}

/** Lets time pass, in steps as small as a second, and everything that waits for it happen. */
async function pass(ms: number): Promise<void> {
  clock.advance(0);
  await settle();
  for (let passed = 0; passed < ms; passed += 1000) {
    clock.advance(Math.min(1000, ms - passed));
    await settle();
  }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await nextTurn();
}

const state = () => store.get('TESTING');
const countOf = (note: string): number => metrics.notes.filter((noted) => noted === note).length;

test('the first poll comes after its delay, and then one an interval', async () => {
  run(4000);
  await pass(3000);
  assert.equal(client.requests, 0);
  await pass(1000);
  assert.equal(client.requests, 1);
  await pass(INTERVAL_MS * 3);
  assert.equal(client.requests, 4);
});

test('before its first poll a service code is neither up nor down', () => {
  assert.equal(state()?.isUp, undefined);
});

test('a poll that succeeds shows', async () => {
  client.answer = () => ({ body: listing(5) });
  run();
  await pass(1000);
  const { isUp, ret, lastSuccessMs, snapshot } = state() ?? {};
  assert.deepEqual([isUp, ret, lastSuccessMs, snapshot?.users, snapshot?.tasks], [true, 0, START_MS, 1, 1]);
  assert.deepEqual(metrics.notes, ['started', 'succeeded']);
});

test('a poll that fails shows, and leaves what the last good one found', async () => {
  client.answer = (request) => ({ body: request === 1 ? '{"ret":7}' : listing(request) });
  run();
  await pass(1000);
  const good = state();
  await pass(INTERVAL_MS);
  const { isUp, ret, lastError, lastSuccessMs, snapshot } = state() ?? {};
  assert.deepEqual([isUp, ret, lastError, lastSuccessMs], [false, 7, 'api_error', START_MS]);
  assert.equal(snapshot, good?.snapshot);
  await pass(INTERVAL_MS);
  assert.deepEqual([state()?.isUp, state()?.ret, state()?.lastError], [true, 0, undefined]);
});

test('failures are no reason to ask more often', async () => {
  client.answer = () => ({ body: '<html>' });
  run();
  await pass(INTERVAL_MS * 10);
  assert.equal(client.requests, 11);
  assert.equal(countOf('failed not_json'), 11);
});

test('a poll never overlaps another', async () => {
  let release = (): void => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  client.answer = (request) => (request === 0 ? { until } : {});
  run();
  await pass(14_000);
  release();
  await pass(1000);
  assert.equal(client.requests, 2);
  assert.equal(client.mostRunning, 1);
});

test('a poll longer than its deadline is given up as hung, and what comes of it late changes nothing', async () => {
  let release = (): void => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  client.answer = (request) => (request === 0 ? { until, body: listing(1) } : { body: '{"ret":3}' });
  run();
  await pass(14_000);
  assert.equal(countOf('failed timeout'), 0);
  await pass(1000);
  assert.equal(countOf('failed timeout'), 1);
  assert.equal(countOf('skipped overlap'), 1);
  release();
  await settle();
  assert.deepEqual([state()?.isUp, state()?.snapshot], [false, undefined]);
  await pass(INTERVAL_MS);
  assert.equal(state()?.ret, 3);
});

test('a service that asks for a pause is left alone until then', async () => {
  client.answer = (request) => (request === 0 ? { status: 429, body: '', retryAfterMs: 40_000 } : {});
  run();
  await pass(40_000);
  assert.equal(client.requests, 1);
  assert.equal(countOf('skipped retry_after'), 2);
  await pass(5000);
  assert.equal(client.requests, 2);
  assert.equal(state()?.isUp, true);
});

test('entries that were left out of a good listing are counted, those of a failed one are not', async () => {
  client.answer = (request) => ({
    body:
      request === 0
        ? '{"ret":0,"user_list":[1,2],"task_list":[]}'
        : '{"ret":4,"user_list":[1],"task_list":[]}',
  });
  run();
  await pass(INTERVAL_MS);
  assert.equal(countOf('2 user not_an_object'), 1);
  assert.equal(countOf('1 user not_an_object'), 0);
});

test('a mistake of the program ends the loop with it', async () => {
  client.answer = () => ({ error: new TypeError('a bug') });
  run();
  await pass(0);
  assert.match(String(await loop), /TypeError: a bug/);
});

test('it ends with the reason of the signal, though the client may not heed it', async () => {
  client.answer = () => ({ until: new Promise(() => undefined) });
  run();
  await pass(0);
  assert.equal(client.running, 1);
  stop.abort(new Error('enough'));
  assert.match(String(await loop), /enough/);
  assert.equal(state()?.isUp, undefined);
});
