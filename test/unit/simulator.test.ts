import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { authenticate, RET_CODES, type Ret } from '../simulator/authentication.ts';
import { corruptRecords } from '../simulator/body.ts';
import { FaultRegistry } from '../simulator/faults.ts';
import { createWorld, type World } from '../simulator/world.ts';
import { validateListing } from '../support/listing-oracle.ts';
import { viewListing } from '../support/listing-view.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { createRunParameters } from '../support/run-parameters.ts';

const CODE = 'TESTING';
const STARTED_AT_MS = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const PUBLISHED = {
  query: 'service_code=TESTING',
  timestamp: '1443494296533',
  signature: 'c576f321f9ad60c92d85032a99f9856b8c432cdf55f6c275b2c8a27344a5bf14',
};

function authenticateAt(nowMs: number, request: Partial<typeof PUBLISHED> = {}): Ret {
  const { query, timestamp, signature } = { ...PUBLISHED, ...request };
  const secretsByServiceCode = new Map([[CODE, 'abc']]);
  const options = { secretsByServiceCode, clock: new ManualClock(nowMs), clockToleranceMs: 1000 };
  return authenticate(options, query, { 'xvs-timestamp': timestamp, 'xvs-signature': signature }, 0);
}

test('the published request is accepted; with any one character changed, it is rejected', () => {
  const nowMs = Number(PUBLISHED.timestamp);
  assert.equal(authenticateAt(nowMs), RET_CODES.ok);
  for (const [part, text] of Object.entries(PUBLISHED)) {
    for (let at = 0; at < text.length; at += 1) {
      const changed = `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
      assert.notEqual(authenticateAt(nowMs, { [part]: changed }), RET_CODES.ok, changed);
    }
  }
});

for (const [name, offsetMs, request, reason] of [
  ['no query', 0, { query: '' }, 'missing_service_code'],
  ['broken escapes', 0, { query: 'service_code=%E0%A4%A' }, 'missing_service_code'],
  ['an unknown service code', 0, { query: 'service_code=OTHER' }, 'unknown_service_code'],
  ['a timestamp in words', 0, { timestamp: 'now' }, 'bad_timestamp'],
  ['no signature', 0, { signature: '' }, 'bad_signature'],
  ['a timestamp at the tolerance', 1000, {}, 'ok'],
  ['a timestamp beyond the tolerance', 1001, {}, 'expired'],
  ['a timestamp beyond the tolerance in the future', -1001, {}, 'expired'],
] as const) {
  test(`a request with ${name} is ${reason}`, () => {
    assert.equal(authenticateAt(Number(PUBLISHED.timestamp) + offsetMs, request), RET_CODES[reason]);
  });
}

function createListing(world: World, timeMs: number) {
  return { user_list: [...world.users(CODE, timeMs)], task_list: [...world.tasks(CODE, timeMs)] };
}

test('a listing is valid, and a function of seed, service code and time', () => {
  const seeds = fc.integer({ min: 0, max: 2 ** 31 });
  const times = fc.integer({ min: STARTED_AT_MS - HOUR_MS, max: STARTED_AT_MS + 24 * HOUR_MS });
  fc.assert(
    fc.property(seeds, times, (seed, timeMs) => {
      const create = () => createWorld({ seed, startedAtMs: STARTED_AT_MS, users: 100, tasks: 20 });
      const listing = createListing(create(), timeMs);
      assert.deepEqual(createListing(create(), timeMs), listing);
      const view = viewListing(validateListing(listing.user_list, listing.task_list, CODE));
      assert.deepEqual([view.invalid, view.invalidFields], [[], []]);
    }),
    createRunParameters(20),
  );
});

test('the bytes of two adjacent intervals add up, and a freeze takes its own away, or two thirds', () => {
  fc.assert(
    fc.property(fc.nat(24 * HOUR_MS), fc.nat(HOUR_MS), fc.nat(HOUR_MS), (age, first, second) => {
      const world = createWorld({ seed: 1, startedAtMs: STARTED_AT_MS, users: 0, tasks: 10 });
      const from = STARTED_AT_MS + age;
      const middle = from + first;
      const to = middle + second;
      const normal = world.bytesPushed(CODE, from, middle);
      const freeze = { fromMs: from, toMs: middle };
      const slow = { fault: 'slow_ingest', ...freeze } as const;
      for (const freezes of [[], [slow], [freeze], [slow, freeze]]) {
        const before = world.bytesPushed(CODE, from, middle, freezes);
        const after = world.bytesPushed(CODE, middle, to, freezes);
        assert.deepEqual(world.bytesPushed(CODE, from, to, freezes), {
          input: before.input + after.input,
          httpOutput: before.httpOutput + after.httpOutput,
        });
        if (freezes.includes(freeze)) assert.deepEqual(before, { input: 0, httpOutput: 0 });
        // Rates vary between 85 and 115 %, and time is whole milliseconds.
        else if (freezes.includes(slow)) assert.ok(before.input <= (normal.input / 3) * (1.15 / 0.85) + 1e5);
      }
    }),
    createRunParameters(20),
  );
});

for (const part of ['record', 'field'] as const) {
  test(`bad_${part}: every third user and task is invalid, the others are unchanged`, () => {
    const world = createWorld({ seed: 1, startedAtMs: STARTED_AT_MS, users: 20, tasks: 10 });
    const right = createListing(world, STARTED_AT_MS);
    const { user_list: users = [], task_list: tasks = [] } = corruptRecords(right, part, 3);
    const listing = { users: Array.from(Object(users)), tasks: Array.from(Object(tasks)) };
    const { invalid, invalidFields } = viewListing(validateListing(listing.users, listing.tasks, CODE));
    const corrupted = Math.floor(listing.users.length / 3) + Math.floor(listing.tasks.length / 3);
    assert.equal(part === 'record' ? invalid.length : invalidFields.length, corrupted);
    const isKept = (_: unknown, index: number) => (index + 1) % 3 !== 0;
    assert.deepEqual(listing.users.filter(isKept), right.user_list.filter(isKept));
    assert.deepEqual(listing.tasks.filter(isKept), right.task_list.filter(isKept));
  });
}

test('a fault for a service code overrides one for all, and clearing it ends only its freezes', () => {
  const clock = new ManualClock(1000);
  const faults = new FaultRegistry(clock);
  faults.set({ fault: 'ret', value: 1, serviceCode: CODE });
  faults.set({ fault: 'ret', value: 2 });
  faults.set({ fault: 'freeze_ingest', serviceCode: CODE });
  faults.set({ fault: 'freeze_ingest' });
  assert.deepEqual(faults.getResponseFault(CODE), { fault: 'ret', value: 1, serviceCode: CODE });
  assert.deepEqual(faults.getResponseFault('OTHER'), { fault: 'ret', value: 2 });
  clock.advance(1000);
  faults.clear(CODE);
  assert.deepEqual(faults.getResponseFault(CODE), { fault: 'ret', value: 2 });
  assert.deepEqual(faults.listFreezes(), [
    { fault: 'freeze_ingest', serviceCode: CODE, fromMs: 1000, toMs: 2000 },
    { fault: 'freeze_ingest', fromMs: 1000, toMs: Infinity },
  ]);
});
