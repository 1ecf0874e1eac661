import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXPECTED_GROUPS } from '../../../src/listing/label-groups.ts';
import { hideUnexpected } from '../../../src/tally/expected-counters.ts';
import { REMEMBERED_MS } from '../../../src/tally/ledger/departed-accounts.ts';
import type { Snapshot } from '../../../src/tally/snapshot.ts';
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

/** Name, steps, and the input bytes of expected names after the last one. */
const INPUT_BYTES: readonly [name: string, steps: readonly Step[], bytes: Record<string, number>][] = [
  ['without a task of the name there is no counter', [list(task(9, { name: 'other' }))], {}],
  ['without valid bytes there is no counter', [list(task(undefined))], {}],
  ['the first valid bytes of a known task are its base', [list(task(undefined)), list(task(9))], { main: 0 }],
  [
    'a restarted task goes on, under another id and on another server',
    [list(task(100)), list(task(150)), list(task(30, { id: 'b', vsId: 'server-2' }))],
    { main: 180 },
  ],
  ['a task that moves goes on', [list(task(100)), list(task(130, { vsId: 'server-2' }))], { main: 130 }],
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
  [
    'of a duplicate, the name of the first entry counts',
    [list(task(7), task(9, { name: 'backup' }))],
    { main: 9 },
  ],
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
  [
    'of a name in half of the listings, the bytes of the others count for no name',
    [1, 2, 3, 4, 5, 6].map((round) => list(task(10 * round, { name: round % 2 ? 'main' : undefined }))),
    { main: 30 },
  ],
  ['a name that is removed has no counter', [list(task(100)), removed()], {}],
  ['a name that comes back goes on', [list(task(100)), removed(), again(170)], { main: 120 }],
  [
    'a name is remembered for six hours after the first listing without it',
    [list(task(100)), removed(HOUR_MS), again(170, REMEMBERED_MS)],
    { main: 120 },
  ],
  [
    'a name that comes back later begins at 0',
    [list(task(100)), removed(), { tasks: [task(160)], afterMs: HOUR_MS }, again(170, REMEMBERED_MS)],
    { main: 10 },
  ],
  [
    'a name is remembered over restarts',
    [list(task(100)), removed(), { ...again(170, REMEMBERED_MS), restartAfterMs: HOUR_MS }],
    { main: 120 },
  ],
  [
    'a name that is removed by a restart is remembered from the next listing on',
    [list(task(100)), { ...removed(HOUR_MS), restartAfterMs: HOUR_MS }, again(170, REMEMBERED_MS)],
    { main: 120 },
  ],
  [
    'time does not forget a name that stays expected',
    [list(task(100)), { tasks: [task(170)], afterMs: 2 * REMEMBERED_MS }],
    { main: 170 },
  ],
  [
    'a name that is changed is another name',
    [list(task(100)), { tasks: [task(130, { name: 'Main' })], expect: ['Main', 'backup'] }],
    { Main: 30 },
  ],
  [
    'a name that is added counts what is gained from then on',
    [list(task(100, { name: 'new' })), { tasks: [task(130, { name: 'new' })], expect: ['new'] }],
    { new: 30 },
  ],
];

for (const [name, steps, bytes] of INPUT_BYTES)
  test(`input bytes by name: ${name}`, () =>
    assert.deepEqual(readValues(run(steps), 'expectedTaskInputBytes'), bytes));

const watched = (bytes: number, connections = 2): Task =>
  task(1, { outputs: [output(bytes, connections), output(0, 0, 'm3u8')] });
const ALL_FORMATS = Array.from({ length: 10 }, (_, index) => output(1, 1, `format-${index}`));

/** Name, steps, and the output bytes and connections of `main` by format after the last one. */
const OUTPUTS: readonly [
  name: string,
  steps: readonly Step[],
  bytes: Record<string, number>,
  connections: Record<string, number>,
][] = [
  [
    'outputs of one format and of several tasks are added up',
    [list(watched(5), task(1, { id: 'b', outputs: [output(7, 3)] }))],
    { flv: 12, m3u8: 0 },
    { flv: 5, m3u8: 0 },
  ],
  [
    'a format that is no longer listed has no connections and keeps its bytes',
    [list(watched(5)), list(task(2))],
    { flv: 5, m3u8: 0 },
    { flv: 0, m3u8: 0 },
  ],
  [
    'a format that was listed more than an hour ago has no gauge',
    [list(watched(5)), { tasks: [task(2)], afterMs: HOUR_MS + 1 }],
    { flv: 5, m3u8: 0 },
    {},
  ],
  ['without a task of the name there are no gauges', [list(watched(5)), list()], { flv: 5, m3u8: 0 }, {}],
  [
    'formats are remembered over restarts, whatever the connections',
    [
      list(watched(5, Number.MAX_SAFE_INTEGER), { ...watched(6, Number.MAX_SAFE_INTEGER), id: 'b' }),
      { tasks: [task(2)], restartAfterMs: 1 },
    ],
    { flv: 11, m3u8: 0 },
    { flv: 0, m3u8: 0 },
  ],
  [
    'formats beyond the eighth share a row',
    [list(task(1, { outputs: ALL_FORMATS.slice(0, 8) })), list(task(1, { outputs: ALL_FORMATS }))],
    { ...Object.fromEntries(ALL_FORMATS.slice(0, 8).map(({ format }) => [format, 1])), __other__: 2 },
    { ...Object.fromEntries(ALL_FORMATS.slice(0, 8).map(({ format }) => [format, 1])), __other__: 2 },
  ],
];

for (const [name, steps, bytes, connections] of OUTPUTS)
  test(`outputs by name: ${name}`, () => {
    const snapshot = run(steps);
    const read = (key: Parameters<typeof readValues>[1]) =>
      Object.fromEntries(
        Object.entries(readValues(snapshot, key)).map(([labels, value]) => [
          labels.replace('main ', ''),
          value,
        ]),
      );
    assert.deepEqual(read('expectedTaskHttpOutputBytes'), bytes);
    assert.deepEqual(read('expectedTaskHttpConnections'), connections);
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

test('a name that is no longer expected is hidden at once, and nothing is copied if none is', () => {
  const snapshot = run([list(watched(5), task(3, { id: 'b', name: 'backup' }))]);
  assert.equal(hideUnexpected(snapshot, ['backup', 'main', 'new']), snapshot);
  const hidden = hideUnexpected(snapshot, ['backup']);
  assert.deepEqual(readValues(hidden, 'expectedTaskInputBytes'), { backup: 3 });
  assert.deepEqual(readValues(hidden, 'expectedTaskHttpConnections'), {});
  for (const group of EXPECTED_GROUPS)
    assert.equal(hidden.rows[group].labelSets, snapshot.rows[group].labelSets);
});
