import assert from 'node:assert/strict';
import { test } from 'node:test';
import { REMEMBERED_MS } from '../../../src/tally/ledger/departed-accounts.ts';
import { hideUnexpected, type Snapshot } from '../../../src/tally/snapshot.ts';
import { buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { readValues, STEP_MS, TallyRun } from '../../support/tally-run.ts';

type Task = ReturnType<typeof buildTaskRecord>;

/** A listing, and what happens before it. */
interface Step {
  readonly tasks?: readonly Task[];
  /** Default: those of the step before; at first, `main` and `backup`. */
  readonly expect?: readonly string[];
  readonly afterMs?: number;
  readonly restartAfterMs?: number;
}

const task = (inputBytes: number | undefined, more: Partial<Task> = {}): Task =>
  buildTaskRecord({ name: 'main', inputBytes, ...more });
const output = (httpOutputBytes: number, httpConnectionsNum = 0, format = 'flv') =>
  buildOutputRecord({ httpOutputBytes, httpConnectionsNum, format, fileName: format });
const list = (...tasks: readonly Task[]): Step => ({ tasks });

/** Takes an empty listing, so that later ones are no baseline, then those of the steps. */
function run(steps: readonly Step[]): Snapshot {
  const tallyRun = new TallyRun();
  tallyRun.expect('main', 'backup');
  let snapshot = tallyRun.commitListing({});
  for (const { tasks = [], expect, afterMs, restartAfterMs } of steps) {
    if (restartAfterMs !== undefined) tallyRun.restart({}, restartAfterMs);
    if (expect !== undefined) tallyRun.expect(...expect);
    snapshot = tallyRun.commitListing({ tasks }, afterMs);
  }
  return snapshot;
}

const HOUR_MS = 3_600_000;
const removed = (afterMs = STEP_MS): Step => ({ tasks: [task(150)], expect: ['backup'], afterMs });
const again = (bytes: number, afterMs = STEP_MS): Step => ({
  tasks: [task(bytes)],
  expect: ['main', 'backup'],
  afterMs,
});

/**
 * Name, steps, and the input bytes of expected names after the last one; `backup` is at 0 unless it is named.
 */
const INPUT_BYTES: readonly [name: string, steps: readonly Step[], bytes: Record<string, number>][] = [
  ['a name is at 0 before it has a task', [list(task(9, { name: 'other' }))], { main: 0 }],
  ['the first valid bytes of a known task are its base', [list(task(undefined)), list(task(9))], { main: 0 }],
  [
    'a restarted task goes on, under another id and on another server',
    [list(task(100)), list(task(150)), list(task(30, { id: 'b', vsId: 'server-2' }))],
    { main: 180 },
  ],
  [
    'the same id that begins again misses three listings at most',
    [list(task(1e6)), list(task(10)), list(task(20)), list(task(30)), list(task(40))],
    { main: 1e6 + 30 },
  ],
  [
    'all tasks of a name count, those that read a file included',
    [list(...[1, 2, 3, 4, 5].map((id) => task(id, { id: `task-${id}`, progress: id % 2 })))],
    { main: 15 },
  ],
  ['the first entry of an id has the name', [list(task(7), task(9, { name: 'backup' }))], { main: 7 }],
  [
    'bytes before a task has a name count for no name',
    [list(task(100, { name: undefined })), list(task(150))],
    { main: 50 },
  ],
  [
    'what a listing adds goes to the name that the task has in it',
    [
      list(task(100)),
      list(task(150, { name: 'backup' })),
      list(task(170)),
      list(task(200, { name: 'other' })),
    ],
    { main: 120, backup: 50 },
  ],
  ['a name that is removed has no counter', [list(task(100)), removed()], {}],
  [
    'a name that comes back goes on from its last value',
    [list(task(100)), removed(), again(170), list(task(175))],
    { main: 105 },
  ],
  [
    'a name is remembered for six hours after the first listing without it',
    [list(task(100)), removed(HOUR_MS), again(170, REMEMBERED_MS)],
    { main: 100 },
  ],
  [
    'a name that comes back later begins at 0',
    [list(task(100)), removed(), { tasks: [task(160)], afterMs: HOUR_MS }, again(170, REMEMBERED_MS)],
    { main: 0 },
  ],
  [
    'a name is remembered over restarts',
    [list(task(100)), removed(), { ...again(170, REMEMBERED_MS), restartAfterMs: HOUR_MS }],
    { main: 100 },
  ],
  [
    'a name that is removed by a restart is remembered from the next listing on',
    [list(task(100)), { ...removed(HOUR_MS), restartAfterMs: HOUR_MS }, again(170, REMEMBERED_MS)],
    { main: 100 },
  ],
  [
    'time does not forget a name that stays expected, and a restart is no new beginning',
    [
      list(task(100)),
      { tasks: [task(170)], afterMs: 2 * REMEMBERED_MS },
      { tasks: [task(180)], restartAfterMs: 1 },
    ],
    { main: 180 },
  ],
  [
    'a name that is changed or added counts what is gained after the first listing with it',
    [
      list(task(100)),
      { tasks: [task(130, { name: 'Main' })], expect: ['Main', 'backup'] },
      list(task(150, { name: 'Main' })),
    ],
    { Main: 20 },
  ],
];

for (const [name, steps, bytes] of INPUT_BYTES)
  test(`input bytes by name: ${name}`, () =>
    assert.deepEqual(readValues(run(steps), 'expectedTaskInputBytes'), { backup: 0, ...bytes }));

const watched = (bytes: number, connections = 2): Task =>
  task(1, { outputs: [output(bytes, connections), output(1, 1, 'mp4')] });

/** Name, steps, and the output bytes and connections of `main` after the last one. */
const OUTPUTS: readonly [
  name: string,
  steps: readonly Step[],
  bytes: number,
  connections: number | undefined,
][] = [
  [
    'outputs of all formats and tasks are added up',
    [list(watched(5), task(1, { id: 'b', outputs: [output(7, 3)] }))],
    13,
    6,
  ],
  ['a task without outputs has no connections, and its bytes stay', [list(watched(5)), list(task(2))], 6, 0],
  ['without a task of the name there are no connections', [list(watched(5)), list()], 6, undefined],
  ['bytes go on after a restart', [list(watched(5)), { tasks: [watched(9)], restartAfterMs: 1 }], 10, 3],
];

for (const [name, steps, bytes, connections] of OUTPUTS)
  test(`outputs by name: ${name}`, () => {
    const snapshot = run(steps);
    assert.equal(readValues(snapshot, 'expectedTaskHttpOutputBytes')['main'], bytes);
    assert.equal(readValues(snapshot, 'expectedTaskHttpConnections')['main'], connections);
  });

test('byte counts that wait are counted by name from the first one on', () => {
  const readWaiting = (...steps: readonly Step[]) => run(steps).expectedTasks.map(({ waiting }) => waiting);
  const backup = task(1, { id: 'b', name: 'backup' });
  const before = list(watched(1e6), backup);
  const falling = list({ ...watched(10), inputBytes: 0 }, backup);
  assert.deepEqual(readWaiting(before), [undefined, undefined]);
  assert.deepEqual(readWaiting(before, falling), [2, undefined]);
  assert.deepEqual(readWaiting(before, falling, list(watched(1e6), backup)), [0, undefined]);
});

test('of 2,000 names in turn, the thousand that were removed last are remembered, over a restart, too', () => {
  const tallyRun = new TallyRun();
  tallyRun.commitListing({});
  /** Expects a hundred names, and returns the input bytes of the first one. */
  const expect = (hundred: number) => {
    const names = Array.from({ length: 100 }, (_, index) => `name-${100 * hundred + index}`);
    tallyRun.expect(...names);
    tallyRun.commitListing({}, 1);
    const tasks = names.map((name) => task(5, { id: `${name}-${tallyRun.elapsedMs}`, name }));
    const values = readValues(tallyRun.commitListing({ tasks }, 1), 'expectedTaskInputBytes');
    return [Object.keys(values).length, values[names[0] ?? '']];
  };
  for (let hundred = 0; hundred < 20; hundred += 1) assert.deepEqual(expect(hundred), [100, 5]);
  assert.deepEqual(expect(10), [100, 10]);
  tallyRun.restart();
  assert.deepEqual(expect(0), [100, 5]);
  assert.deepEqual(expect(11), [100, 5]);
  assert.deepEqual(expect(10), [100, 15]);
});

test('a name that is hidden takes none of the others out of their first 90 seconds', () => {
  const tallyRun = new TallyRun();
  tallyRun.expect('a', 'b');
  tallyRun.commitListing({});
  tallyRun.expect('a', 'b', 'c', 'd');
  const snapshot = tallyRun.commitListing({}, 90_000);
  const listNew = ({ rows: { expectedNames } }: Snapshot) => {
    const { labelSets, columns, newRows = [] } = expectedNames;
    const shown = newRows.filter((row) => !Number.isNaN(columns.expectedTaskInputBytes[row]));
    return shown.map((row) => labelSets[row]?.[0]);
  };
  assert.deepEqual(listNew(snapshot), ['c', 'd']);
  assert.deepEqual(listNew(hideUnexpected(snapshot, ['b', 'd'])), ['d']);
});

test('a name that is no longer expected is hidden at once, and nothing is copied if none is', () => {
  const snapshot = run([list(watched(5), task(3, { id: 'b', name: 'backup' }))]);
  assert.equal(hideUnexpected(snapshot, ['backup', 'main', 'new']), snapshot);
  const hidden = hideUnexpected(snapshot, ['backup']);
  assert.deepEqual(readValues(hidden, 'expectedTaskInputBytes'), { backup: 3 });
  assert.deepEqual(readValues(hidden, 'expectedTaskHttpConnections'), { backup: 0 });
});
