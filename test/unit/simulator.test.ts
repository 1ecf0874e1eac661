import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authenticate, RET_CODES, type Ret } from '../simulator/authentication.ts';
import { FaultRegistry } from '../simulator/faults.ts';
import { startSimulator } from '../simulator/server.ts';
import { createWorld } from '../simulator/world.ts';
import { ManualClock } from '../support/manual-clock.ts';

const CODE = 'TESTING';
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

test('a clock that is set wrong also shows in the Date header', async () => {
  const clock = new ManualClock(Number(PUBLISHED.timestamp));
  const world = createWorld({ seed: 1, startedAtMs: clock.now(), users: 1, tasks: 1 });
  await using simulator = await startSimulator({ world, clock, secretsByServiceCode: new Map() });
  simulator.faults.set({ fault: 'clock_skew', ms: 3_600_000 });
  const { headers } = await fetch(`${simulator.url}/api/20140928/task_list`);
  assert.equal(Date.parse(headers.get('date') ?? ''), Math.floor(clock.now() / 1000) * 1000 + 3_600_000);
});
