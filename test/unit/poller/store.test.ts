import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { POLL_FAMILIES } from '../../../src/poller/catalogue.ts';
import { countSeries, type Family, type FamilySpec } from '../../../src/families/family.ts';
import { PollHistory } from '../../../src/poller/poll-history.ts';
import { NO_POLLS } from '../../../src/poller/poll-metrics.ts';
import { Store, type CodeState, type PollFailure } from '../../../src/poller/store.ts';
import { countersOf, familiesOf, LABEL_GROUP_NAMES, labelGroup } from '../../../src/listing/label-groups.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';
import type { Instant } from '../../../src/runtime/instant.ts';
import { parseExposition } from '../../support/exposition-parser.ts';
import { render } from '../../support/render.ts';
import {
  buildInputRecord,
  buildOutputRecord,
  buildStreamRecord,
  buildTaskRecord,
  buildUserRecord,
} from '../../support/record-builders.ts';
import { START_MS, TallyRun, type Sample } from '../../support/tally-run.ts';

const STALE_AFTER_MS = 45_000;

/** The state of a service code that has not been polled. */
const UNPOLLED: CodeState = {
  serviceCode: 'A',
  staleAfterMs: STALE_AFTER_MS,
  intervalMs: 15_000,
  listedMs: 0,
  polls: NO_POLLS,
  history: new PollHistory(),
  labels: {},
};

const FAILURE: PollFailure = {
  reason: 'timeout',
  message: '',
  remedies: [],
  sinceMs: 0,
  pausedUntilMs: undefined,
};

/** Creates the state after a successful poll, with samples in every family. */
function createPolledState(serviceCode: string, more: Partial<CodeState> = {}): CodeState {
  const input = buildInputRecord({ inputBytes: 5 });
  const streams = [buildStreamRecord({ copy: 1 })];
  const run = new TallyRun({ serviceCode, perTask: true, maxLabelSets: 2 });
  run.expect('main');
  const snapshot = run.commitListing({
    // One server more than maxLabelSets, so that label sets are folded.
    users: [buildUserRecord(), buildUserRecord({ vsId: 'server-2' }), buildUserRecord({ vsId: 'server-3' })],
    tasks: [
      buildTaskRecord({
        name: 'main',
        inputs: [input],
        outputs: [buildOutputRecord({ streams, httpConnectionsNum: 1 })],
      }),
    ],
  });
  return {
    ...UNPOLLED,
    serviceCode,
    ret: 0,
    lastPoll: { atMs: SNAPSHOT_MS, durationMs: 7000 },
    snapshot,
    ...more,
  };
}

function createStore(...states: readonly CodeState[]): Store {
  const store = new Store();
  for (const state of states) store.publish(state);
  return store;
}

/** Monotonic time of the snapshot of `createPolledState`. */
const SNAPSHOT_MS = 1000;

const at = (monotonicMs: number): Instant => ({ wallMs: START_MS + monotonicMs - SNAPSHOT_MS, monotonicMs });

/** The samples of a family one by one, with the labels of the family but for static ones. */
function listSamples({ samples, serviceCode }: Family): readonly Sample[] {
  const complete = (labels: readonly string[]) =>
    serviceCode === undefined ? labels : [serviceCode, ...labels];
  if (!('labelSets' in samples))
    return samples.map((sample) => ({ ...sample, labels: complete(sample.labels) }));
  return samples.labelSets
    .map((labels, row) => ({ labels: complete(labels), value: samples.numbers[row] ?? Number.NaN }))
    .filter(({ value }) => !Number.isNaN(value));
}

/** Lists the families of the state that have samples, with their service codes. */
function listExposedCodes(store: Store, nowMs: number): Map<string, readonly string[]> {
  const all = new Map<string, readonly string[]>();
  for (const family of store.collectFamilies(at(nowMs))) {
    if (POLL_SPECS.has(family.spec)) continue;
    const { name } = family.spec;
    const serviceCodesOfPart = listSamples(family).map(({ labels }) => labels[0] ?? '');
    if (serviceCodesOfPart.length > 0)
      all.set(name, [...new Set([...(all.get(name) ?? []), ...serviceCodesOfPart])]);
  }
  return all;
}

const POLL_SPECS: ReadonlySet<FamilySpec> = new Set(Object.values(POLL_FAMILIES));
const COUNTERS = LABEL_GROUP_NAMES.filter((group) => labelGroup(group).of !== 'single_task').flatMap(
  (group) => countersOf(group),
);
/** Families that appear with the first event. */
const RARE_FAMILIES: readonly string[] = [
  'invalidRecords',
  'invalidFields',
  'foreignRecords',
  'listingSurplus',
  'byteCountsWaiting',
  'tasksBeforeLoss',
  'usersBeforeLoss',
  'tasksBeforeIngestStop',
  'serverTasksBeforeLoss',
  'connectionsBeforeStop',
];
const LISTING_NAMES = LABEL_GROUP_NAMES.flatMap((group) => familiesOf(group))
  .filter((key) => !COUNTERS.includes(key) && !RARE_FAMILIES.includes(key))
  .map((key) => CATALOGUE[key].name);
const NEVER_STALE_NAMES = [
  CATALOGUE.up.name,
  CATALOGUE.ret.name,
  CATALOGUE.taskLifetime.name,
  ...COUNTERS.filter((key) => !RARE_FAMILIES.includes(key)).map((key) => CATALOGUE[key].name),
];

test('before its first poll a service code has no samples, not even xvs_up', () => {
  assert.deepEqual(listExposedCodes(createStore(UNPOLLED), 0), new Map());
});

/** The lines of the polls of a code, without the label of the code. */
function renderPolls(state: CodeState, nowMs = 0): readonly string[] {
  const families = [...createStore(state).collectFamilies(at(nowMs))].filter(({ spec }) =>
    POLL_SPECS.has(spec),
  );
  const lines = render(families, 'text').split('\n');
  return lines.flatMap((line) =>
    /^$|^#/.test(line) ? [] : line.replace(/\{service_code="A",?(.*)\}/, ' $1').replace('  ', ' '),
  );
}

test('before its first poll the counters of polls are at 0, and it has no gauges but the interval', () => {
  assert.deepEqual(renderPolls(UNPOLLED), [
    'xvs_exporter_polls_total 0',
    ...POLL_ERROR_REASONS.map((reason) => `xvs_exporter_poll_errors_total reason="${reason}" 0`),
    'xvs_exporter_polls_skipped_total reason="overlap" 0',
    'xvs_exporter_polls_skipped_total reason="retry_after" 0',
    'xvs_exporter_listing_age_seconds 0',
    'xvs_exporter_poll_interval_seconds 15',
  ]);
});

test('gauges of polls tell what is known of the last one; an uncertain clock offset is 0', () => {
  const polled: CodeState = {
    ...createPolledState('A'),
    lastPoll: { atMs: 15_250 + SNAPSHOT_MS, durationMs: 7000 },
    responseBytes: 1234,
    httpStatus: 401,
    clockOffset: { aheadMs: -90_000, uncertaintyMs: 600 },
    certificateNotAfterMs: 2_000_000_000_000,
  };
  const gauges = renderPolls(polled, SNAPSHOT_MS + 20_400).filter((sample) => !sample.includes('_total'));
  assert.deepEqual(gauges, [
    'xvs_exporter_last_poll_duration_seconds 7',
    `xvs_exporter_last_poll_timestamp_seconds ${START_MS / 1000 + 15.25}`,
    `xvs_exporter_last_success_timestamp_seconds ${START_MS / 1000}`,
    'xvs_exporter_listing_age_seconds 19',
    'xvs_exporter_poll_interval_seconds 15',
    'xvs_exporter_response_bytes 1234',
    'xvs_exporter_http_status 401',
    'xvs_exporter_clock_offset_seconds -90',
    'xvs_exporter_upstream_certificate_not_after_timestamp_seconds 2000000000',
  ]);
  const inSync = { ...polled, clockOffset: { aheadMs: 500, uncertaintyMs: 600 } };
  assert.ok(renderPolls(inSync).includes('xvs_exporter_clock_offset_seconds 0'));
});

test('after a failed first poll there is only xvs_up', () => {
  const store = createStore({
    ...UNPOLLED,
    lastPoll: { atMs: 0, durationMs: 7000 },
    failure: FAILURE,
  });
  assert.deepEqual(listExposedCodes(store, 0), new Map([[CATALOGUE.up.name, ['A']]]));
});

test('after a good poll every family of the listing and every counter is exposed', () => {
  const names = new Set(listExposedCodes(createStore(createPolledState('A')), SNAPSHOT_MS).keys());
  for (const name of [...LISTING_NAMES, ...NEVER_STALE_NAMES]) assert.ok(names.has(name), name);
});

test('the gauges of a stale listing disappear, of no other service code; counters, xvs_up and xvs_ret stay', () => {
  const store = createStore(
    createPolledState('A', { failure: FAILURE, ret: 7 }),
    createPolledState('B', { staleAfterMs: 2 * STALE_AFTER_MS }),
  );
  const before = listExposedCodes(store, SNAPSHOT_MS + STALE_AFTER_MS);
  for (const name of LISTING_NAMES) assert.deepEqual(before.get(name), ['A', 'B'], name);
  const all = listExposedCodes(store, SNAPSHOT_MS + STALE_AFTER_MS + 1);
  for (const name of LISTING_NAMES) assert.deepEqual(all.get(name), ['B'], name);
  for (const name of NEVER_STALE_NAMES) assert.deepEqual(all.get(name), ['A', 'B'], name);
});

test('the series of all states are counted, with and without what a stale listing hides', () => {
  const store = createStore(createPolledState('A'), createPolledState('B'), UNPOLLED);
  const count = (nowMs: number) =>
    [...store.collectFamilies(at(nowMs))].reduce((sum, family) => sum + countSeries(family), 0);
  const staleMs = SNAPSHOT_MS + STALE_AFTER_MS + 1;
  for (const nowMs of [SNAPSHOT_MS, staleMs, SNAPSHOT_MS])
    assert.equal(store.countSeries(at(nowMs)), count(nowMs));
  assert.ok(store.countSeries(at(staleMs)) < store.countSeries(at(SNAPSHOT_MS)));
});

test('a failed poll is exposed immediately, together with the previous listing', () => {
  const store = createStore(createPolledState('A'));
  store.publish(createPolledState('A', { failure: FAILURE, ret: undefined }));
  const { families } = parseExposition(
    render(store.collectFamilies(at(SNAPSHOT_MS)), 'openmetrics'),
    'openmetrics',
  );
  assert.deepEqual(families.get(CATALOGUE.up.name)?.samples, [
    { name: CATALOGUE.up.name, labels: { service_code: 'A' }, value: 0 },
  ]);
  assert.equal(families.has(CATALOGUE.ret.name), false);
  assert.equal(families.get(CATALOGUE.listingUsers.name)?.samples[0]?.value, 3);
});

test('expectations are exposed from the start and at 0 without a recent listing, until they are removed', () => {
  const minima = [
    { name: 'main', inputBytesPerSecond: 250_000, outputs: 3 },
    { name: 'backup', outputs: 1 },
  ];
  const expectation = { tasks: 3, names: ['main', 'backup'], minima };
  const expectedTasks = [{ name: 'main', condition: 'up', outputs: 2, sinceMs: START_MS } as const];
  const read = (state: CodeState, nowMs: number): readonly string[] =>
    render(createStore(state).collectFamilies(at(nowMs)), 'text')
      .split('\n')
      .filter((line) => /^xvs_expected_(?:tasks|task_(?:up|outputs|due_outputs|min_.*))\{/.test(line))
      .map((line) => line.replace(/^xvs_expected_|service_code="A",?/g, ''));
  const always = [
    'task_min_input_bytes_per_second{task_name="main"} 250000',
    'task_due_outputs{task_name="main"} 3',
    'task_due_outputs{task_name="backup"} 1',
  ];
  const unknown = ['tasks{} 3', 'task_up{task_name="main"} 0', 'task_up{task_name="backup"} 0', ...always];
  assert.deepEqual(read({ ...UNPOLLED, expectation }, 0), unknown);
  const polled = createPolledState('A', { expectation, failure: FAILURE });
  const snapshot = polled.snapshot && { ...polled.snapshot, expectedTasks, expectedTaskCount: 2 };
  const state = { ...polled, snapshot };
  assert.deepEqual(read(state, SNAPSHOT_MS + STALE_AFTER_MS), [
    'tasks{} 3',
    'task_up{task_name="main"} 1',
    'task_up{task_name="backup"} 0',
    'task_outputs{task_name="main"} 2',
    ...always,
  ]);
  assert.deepEqual(read(state, SNAPSHOT_MS + STALE_AFTER_MS + 1), unknown);
  // A reload has added a task and its name since the listing.
  assert.deepEqual(read({ ...state, failure: undefined }, SNAPSHOT_MS), [
    'tasks{} 2',
    'task_up{task_name="main"} 1',
    'task_outputs{task_name="main"} 2',
    ...always,
  ]);
  assert.deepEqual(read({ ...state, expectation: undefined }, SNAPSHOT_MS), []);
});
