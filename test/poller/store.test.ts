import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import { isStale, Store, unpolled, type CodeState } from '../../src/poller/store.ts';
import { COUNTER_FAMILIES, LISTING_FAMILIES } from '../../src/tally/snapshot.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { render } from '../support/render.ts';
import { outputRecord, taskRecord, userRecord } from '../support/task-record.ts';
import { START_MS, TallyRun } from '../support/tally-run.ts';

const STALE_AFTER_MS = 45_000;

/** The state after a poll that succeeded, of a service code with something in every family. */
function polled(serviceCode: string, more: Partial<CodeState> = {}): CodeState {
  const input = { protocol: 'rtmp', deviceType: '10', clientVersion: '451', inputBytes: 5 };
  const streams = [{ codecType: 0, copy: 1, bitRate: 1000 }];
  const snapshot = new TallyRun({ serviceCode, perTask: true, maxLabelSets: 2 }).list({
    // One server more than label sets, so that something folds.
    users: [userRecord(), userRecord({ vsId: 'server-2' }), userRecord({ vsId: 'server-3' })],
    tasks: [taskRecord({ inputs: [input], outputs: [outputRecord({ streams })] })],
  });
  return {
    ...unpolled(serviceCode, STALE_AFTER_MS),
    isUp: true,
    ret: 0,
    lastPollMs: START_MS,
    lastSuccessMs: START_MS,
    snapshot,
    ...more,
  };
}

function storeOf(...states: readonly CodeState[]): Store {
  const store = new Store();
  for (const state of states) store.publish(state);
  return store;
}

/** When the snapshot of `polled` was made, on the monotonic clock. */
const MADE_MS = 1000;

/** The names of the families that have samples, and the service codes in them. */
function exposed(
  store: Store,
  nowMs: number,
  serviceCodes?: ReadonlySet<string>,
): Map<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (const { spec, samples } of store.families(nowMs, serviceCodes)) {
    const serviceCodesOfPart = Array.from(samples, ({ labels }) => labels[0] ?? '');
    if (samples.length > 0) {
      all.set(spec.name, [...new Set([...(all.get(spec.name) ?? []), ...serviceCodesOfPart])]);
    }
  }
  return all;
}

const LISTING_NAMES = LISTING_FAMILIES.map((key) => CATALOGUE[key].name);
const LASTING_NAMES = ['xvs_up', 'xvs_ret', ...COUNTER_FAMILIES.map((key) => CATALOGUE[key].name)];

test('before its first poll a service code has no samples at all, not even xvs_up', () => {
  assert.deepEqual(exposed(storeOf(unpolled('A', STALE_AFTER_MS)), 0), new Map());
});

test('after a first poll that failed there is xvs_up, and nothing else', () => {
  const store = storeOf({ ...unpolled('A', STALE_AFTER_MS), isUp: false, lastError: 'timeout' });
  assert.deepEqual(exposed(store, 0), new Map([['xvs_up', ['A']]]));
});

test('after a good poll every family of the listing and every counter shows', () => {
  const names = new Set(exposed(storeOf(polled('A')), MADE_MS).keys());
  for (const name of [...LISTING_NAMES, ...LASTING_NAMES]) assert.ok(names.has(name), name);
});

test('what is exposed stands in the order of the catalogue', () => {
  const order: readonly string[] = Object.values(CATALOGUE).map(({ name }) => name);
  const places = storeOf(polled('A'), polled('B'))
    .families(MADE_MS)
    .map(({ spec }) => order.indexOf(spec.name));
  assert.deepEqual(
    places,
    places.toSorted((a, b) => a - b),
  );
});

for (const [ageMs, expected] of [
  [0, false],
  [STALE_AFTER_MS, false],
  [STALE_AFTER_MS + 1, true],
] as const) {
  test(`a listing that is ${ageMs} ms old is ${expected ? '' : 'not '}stale`, () => {
    assert.equal(isStale(polled('A'), MADE_MS + ageMs), expected);
  });
}

test('without a listing there is nothing that could grow stale', () => {
  assert.equal(isStale(unpolled('A', 0), Infinity), false);
});

test('when a listing has grown stale its gauges vanish; counters, xvs_up and xvs_ret stay', () => {
  const store = storeOf(polled('A', { isUp: false, ret: 7 }));
  const names = new Set(exposed(store, MADE_MS + STALE_AFTER_MS + 1).keys());
  assert.deepEqual(names, new Set(LASTING_NAMES));
});

test('one service code grows stale without the other', () => {
  const store = storeOf(polled('A'), polled('B', { staleAfterMs: 2 * STALE_AFTER_MS }));
  const all = exposed(store, MADE_MS + STALE_AFTER_MS + 1);
  for (const name of LISTING_NAMES) assert.deepEqual(all.get(name), ['B'], name);
  for (const name of LASTING_NAMES) assert.deepEqual(all.get(name), ['A', 'B'], name);
});

test('a failed poll shows at once, beside the listing before it', () => {
  const store = storeOf(polled('A'));
  store.publish(polled('A', { isUp: false, ret: undefined }));
  const { families } = parseExposition(render(store.families(MADE_MS), 'openmetrics'), 'openmetrics');
  assert.deepEqual(families.get('xvs_up')?.samples, [
    { name: 'xvs_up', labels: { service_code: 'A' }, value: 0 },
  ]);
  assert.equal(families.has('xvs_ret'), false);
  assert.equal(families.get('xvs_servers')?.samples[0]?.value, 3);
});

for (const [name, serviceCodes, expected] of [
  ['all', undefined, ['A', 'B', 'C']],
  ['one', ['B'], ['B']],
  ['two', ['C', 'A'], ['A', 'C']],
  ['an unknown one', ['D'], undefined],
  ['none', [], undefined],
] as const) {
  test(`narrowed to ${name}, every family has the samples of ${expected?.join(', ') ?? 'nobody'}`, () => {
    const store = storeOf(polled('A'), polled('B'), polled('C'));
    const all = exposed(store, MADE_MS, serviceCodes && new Set<string>(serviceCodes));
    for (const family of [...LISTING_NAMES, ...LASTING_NAMES]) {
      assert.deepEqual(all.get(family), expected, family);
    }
  });
}

test('a later state takes the place of the one before, and the order of service codes stays', () => {
  const store = storeOf(polled('B'), polled('A'));
  const later = polled('B', { isUp: false });
  store.publish(later);
  assert.equal(store.get('B'), later);
  assert.deepEqual(
    store.states.map(({ serviceCode }) => serviceCode),
    ['B', 'A'],
  );
  assert.equal(store.get('C'), undefined);
});
