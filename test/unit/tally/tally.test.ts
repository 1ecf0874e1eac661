import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCounts } from '../../../src/listing/rows.ts';
import {
  buildInputRecord,
  buildOutputRecord,
  buildTaskRecord,
  buildUserRecord,
} from '../../support/record-builders.ts';
import {
  readAllSamples,
  readLifetimes,
  START_MS,
  STEP_MS,
  TallyRun,
  readValues,
} from '../../support/tally-run.ts';
import { RecordListing } from '../../support/record-listing.ts';

test('the lifetime of an ended task is observed if its start was observed', () => {
  const run = new TallyRun();
  const fromBaseline = buildTaskRecord({ id: 'old' });
  run.commitListing({ tasks: [fromBaseline] });
  run.commitListing({ tasks: [fromBaseline, buildTaskRecord()] });
  run.commitListing({ tasks: [fromBaseline, buildTaskRecord()] }, 50_000);
  const lifetimes = readLifetimes(run.commitListing({}));
  assert.deepEqual(lifetimes.buckets, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  assert.equal(lifetimes.sum, 50);
});

test('a server that left has 0 tasks and users and the time of its last listing for an hour', () => {
  const run = new TallyRun();
  run.commitListing({ tasks: [buildTaskRecord()], users: [buildUserRecord()] });
  const gone = run.commitListing({}, 3_599_999);
  assert.deepEqual(readValues(gone, 'tasks'), { 'server-1': 0 });
  assert.deepEqual(readValues(gone, 'serverOnlineUsers'), { 'server-1': 0 });
  assert.deepEqual(readValues(gone, 'serverLastSeen'), { 'server-1': START_MS / 1000 });
  const forgotten = run.commitListing({}, 2);
  assert.deepEqual(readValues(forgotten, 'tasks'), {});
  assert.deepEqual(readValues(forgotten, 'serverLastSeen'), {});
});

test('a server that is literally __other__ is none', () => {
  const run = new TallyRun();
  const vsId = '__other__';
  const snapshot = run.commitListing({
    tasks: [buildTaskRecord({ vsId })],
    users: [buildUserRecord({ vsId })],
  });
  assert.deepEqual(readValues(snapshot, 'tasks'), { [vsId]: 1 });
  assert.deepEqual(readValues(snapshot, 'serverLastSeen'), {});
  assert.deepEqual(readValues(snapshot, 'oldestTaskFirstSeen'), {});
});

test('a task that returns begins a run anew, with its first listing and its input', () => {
  const run = new TallyRun();
  const listed = { tasks: [buildTaskRecord({ inputBytes: 5 })] };
  run.commitListing(listed);
  run.commitListing({});
  const returned = { tasks: [buildTaskRecord({ inputBytes: 0 })] };
  const firstSeen = START_MS / 1000 + 30;
  assert.deepEqual(readValues(run.commitListing(returned), 'oldestTaskFirstSeen'), { 'server-1': firstSeen });
  assert.deepEqual(readValues(run.commitListing(returned, 60_000), 'tasksWithoutInput'), { 'server-1': 1 });
});

test('a commit changes nothing of its listing', () => {
  const records = new RecordListing();
  for (const httpConnectionsNum of [0, 1])
    records.addTask(
      buildTaskRecord({
        id: `${httpConnectionsNum}`,
        outputs: [buildOutputRecord({ httpConnectionsNum, format: 'flv', httpOutputBytes: 50 })],
      }),
    );
  const { listing } = records;
  const before = structuredClone({ ...listing.rows });
  const run = new TallyRun();
  run.commitListing({});
  run.tally.commit(listing, { wallMs: START_MS + STEP_MS, monotonicMs: 1000 + STEP_MS });
  assert.deepEqual(structuredClone({ ...listing.rows }), before);
});

test('a published snapshot does not change with later listings', () => {
  const run = new TallyRun({ perTask: true });
  const tasks = [buildTaskRecord({ inputBytes: 5, outputs: [buildOutputRecord({ httpOutputBytes: 7 })] })];
  run.commitListing({ tasks });
  const snapshot = run.commitListing({ tasks, users: [buildUserRecord()] });
  const before = structuredClone(readAllSamples(snapshot));
  run.commitListing({ tasks: [buildTaskRecord({ inputBytes: 50 }), buildTaskRecord({ id: 'b' })] });
  run.commitListing({});
  assert.deepEqual(readAllSamples(snapshot), before);
});

test('tasks that have been stalled for an hour are told apart, also over a restart', () => {
  const run = new TallyRun({ pollIntervalMs: 60_000 });
  const list = (bytes: number, afterMs: number) => {
    const tasks = [
      buildTaskRecord({ id: 'stopped', inputBytes: Math.min(bytes, 2) }),
      buildTaskRecord({ id: 'stopped long ago', inputBytes: 7 }),
      buildTaskRecord({ id: 'flows', inputBytes: bytes }),
    ];
    return readValues(run.commitListing({ tasks }, afterMs), 'tasksLongStalled')['server-1'];
  };
  const counts = [0, 1, 1, 58, 1].map((minutes, index) => list(1 + index, minutes * 60_000));
  run.restart();
  assert.deepEqual([...counts, list(9, 60_000)], [0, 1, 1, 1, 2, 2]);
});

type TaskFields = Parameters<typeof buildTaskRecord>[0];
const withInput = (...list: readonly number[]): TaskFields[] => list.map((inputBytes) => ({ inputBytes }));
const four = <T>(value: T): T[] => Array.from({ length: 4 }, () => value);
const NEVER = [0, 0, 0, 0];
const STALL_FAMILIES = ['tasksStalled', 'tasksWithoutInput', 'fileTasksStalled'] as const;
type StallFamily = (typeof STALL_FAMILIES)[number];

/** A task in listings 15 s apart, and what is counted after each, with a `stallAfterMs` of 30 s. */
const STALLS: readonly [string, TaskFields[], Partial<Record<StallFamily, number[]>>][] = [
  [
    'a live task is stalled after 30 s without new input, and until its input grows',
    withInput(100, 200, 200, 200, 200, 201, 201, 201),
    { tasksStalled: [0, 0, 0, 1, 1, 0, 0, 1] },
  ],
  [
    'a live task whose bytes wait but grow is not stalled',
    withInput(2e9, 2e9 + 1000, 2e9 - 1000, 2e9 - 900, 2e9 - 800, 2e9 - 700, 2e9 - 700, 2e9 - 700),
    { tasksStalled: [0, 0, 0, 0, 0, 0, 0, 1] },
  ],
  [
    'a live task that never had input is without input after 30 s, and not stalled',
    four({ inputBytes: 0 }),
    { tasksWithoutInput: [0, 0, 1, 1], tasksStalled: NEVER },
  ],
  [
    'in the listing in which a live task changes its source, its input flows',
    [100, 100, undefined, undefined, undefined].map((inputBytes) => ({
      inputBytes,
      inputs: [buildInputRecord({ inputBytes: 100 })],
    })),
    { tasksStalled: [0, 0, 0, 0, 1] },
  ],
  [
    'a task with input is not without input',
    four<TaskFields>({ inputBytes: 1 }),
    { tasksWithoutInput: NEVER },
  ],
  [
    'a task without byte count is neither stalled nor without input',
    four({ inputBytes: undefined }),
    { tasksWithoutInput: NEVER, tasksStalled: NEVER },
  ],
  [
    'a file task is stalled after 30 s with the same progress, even if its bytes grow',
    withInput(0, 1000, 2000, 3000).map((fields) => ({ ...fields, progress: 0.5 })),
    { fileTasksStalled: [0, 0, 1, 1], tasksStalled: NEVER },
  ],
  [
    'a file task needs no byte count to be stalled',
    four({ progress: 0.5, inputBytes: undefined }),
    { fileTasksStalled: [0, 0, 1, 1] },
  ],
];

/** Whether a live task is stalled as of each listing of its bytes, `undefined` for a poll that fails. */
function readStalls(stepMs: number, ...listings: readonly (number | undefined)[]): readonly boolean[] {
  const run = new TallyRun({ pollIntervalMs: stepMs });
  return listings.flatMap((inputBytes) => {
    if (inputBytes === undefined) {
      run.wait(stepMs);
      return [];
    }
    const snapshot = run.commitListing({ tasks: [buildTaskRecord({ inputBytes })] }, stepMs);
    return [readValues(snapshot, 'tasksStalled')['server-1'] === 1];
  });
}

const outage = Array.from({ length: 8 }, () => undefined);

for (const [name, stepMs, listings, stalled] of [
  ['reconnects under its id between two rare polls', 240_000, [9000, 9900, 10, 500, 900], []],
  ['is shown by a front end that lags behind', 240_000, [9000, 9900, 9500, 9500, 9900], []],
  ['is stalled, and reconnects under its id', 15_000, [9000, ...four(9900), 9900, 10, 20], [5]],
  [
    'is dead, and its service restarts',
    15_000,
    [9000, ...four(9900), 9900, ...four(0), 0, 0],
    [5, 6, 7, 8, 9, 10, 11],
  ],
  ['dies with a restart of its service', 15_000, [9000, 9900, ...four(0), 0, 0, 0, 0], [7, 8, 9]],
  ['runs before and after an outage', 15_000, [9000, 9900, ...outage, 9999], []],
  ['does not grow in the first listing after an outage', 15_000, [9000, 9900, ...outage, 9900, 9999], []],
  ['dies in an outage', 15_000, [9000, 9900, ...outage, 9900, 9900], [3]],
  ['dies while every second poll fails', 60_000, [9000, 9900, undefined, 9900, undefined, 9900], [3]],
  [
    'is dead before and after an outage',
    15_000,
    [9000, ...four(9900), 9900, ...outage, 9900, 9900],
    [5, 6, 7],
  ],
] as const) {
  test(`a live task is stalled, or is not: it ${name}`, () => {
    const found = readStalls(stepMs, ...listings);
    assert.deepEqual(
      [...found.keys()].filter((listing) => found[listing]),
      stalled,
    );
  });
}

for (const [name, listings, expected] of STALLS) {
  test(name, () => {
    const run = new TallyRun({ stallAfterMs: 30_000 });
    const snapshots = listings.map((fields) => run.commitListing({ tasks: [buildTaskRecord(fields)] }));
    for (const family of STALL_FAMILIES) {
      if (expected[family] === undefined) continue;
      const counts = snapshots.map((snapshot) => readValues(snapshot, family)['server-1']);
      assert.deepEqual(counts, expected[family], family);
    }
  });
}

test('a snapshot has the oldest task of a server, and the bytes of a protocol and of a rendition', () => {
  const run = new TallyRun();
  const task = (id: string, bytes: number) =>
    buildTaskRecord({
      id,
      inputBytes: bytes,
      inputs: [buildInputRecord({ protocol: 'srt' })],
      outputs: [buildOutputRecord({ httpOutputBytes: bytes })],
    });
  run.commitListing({ tasks: [task('a', 10)] });
  const snapshot = run.commitListing({ tasks: [task('a', 15), task('b', 7)] });
  assert.deepEqual(readValues(snapshot, 'oldestTaskFirstSeen'), { 'server-1': START_MS / 1000 });
  assert.deepEqual(readValues(snapshot, 'protocolInputBytes'), { srt: 12 });
  assert.deepEqual(readValues(snapshot, 'renditionHttpOutputBytes'), { 'libx264 aac 640x360': 12 });
});

test('a commit returns the invalid fields, foreign records and implausible byte counts of its listing', () => {
  const { tally } = new TallyRun();
  const listing = new RecordListing();
  listing.addInvalidField('task', 'input_bytes');
  listing.addInvalidField('task', 'input_bytes');
  listing.addUser(buildUserRecord({ isForeign: true }));
  const { problems } = tally.commit(listing.listing, { wallMs: START_MS, monotonicMs: 0 });
  assert.deepEqual(readCounts(problems.invalidFields), { 'task input_bytes': 2 });
  assert.deepEqual(readCounts(problems.foreignRecords), { user: 1 });
  assert.deepEqual(problems.directions.columns.byteCountImplausible, [0, 0]);
});

test('an output counts as unwatched only if its format has had connections', () => {
  const run = new TallyRun();
  type Outputs = readonly [format: string, connections: number | undefined][];
  const task = (...outputs: Outputs) => ({
    tasks: [
      buildTaskRecord({
        outputs: outputs.map(([format, httpConnectionsNum]) =>
          buildOutputRecord({ format, httpConnectionsNum }),
        ),
      }),
    ],
  });
  const unwatched = (...outputs: Outputs) =>
    readValues(run.commitListing(task(...outputs)), 'outputsUnwatched');
  assert.deepEqual(unwatched(['rtmp', 0], ['flv', 0], ['mp4', 0]), {});
  assert.deepEqual(unwatched(['rtmp', 0], ['flv', 1], ['mp4', 0]), { 'server-1 flv': 0 });
  assert.deepEqual(unwatched(['rtmp', 0], ['flv', 0], ['flv', undefined]), { 'server-1 flv': 1 });
});
