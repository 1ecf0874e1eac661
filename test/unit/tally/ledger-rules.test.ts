import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TaskRecord } from '../../support/listing-records.ts';
import { buildInputRecord, buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';
import { readLifetimes, readValues, STEP_MS, sumValues, TallyRun } from '../../support/tally-run.ts';

/* The rules of docs/counters.md, each by the sequences of listings that it is for. */

/** The lifetime value of a task. */
const S = 2e9;
const HUGE = Number.MAX_SAFE_INTEGER;
const HOUR_MS = 3_600_000;

type Listing = readonly TaskRecord[];

const task = (inputBytes: number | undefined, vsId = 'v1', id = 't'): TaskRecord =>
  buildTaskRecord({ id, vsId, inputBytes });

/** Listings of one task, one for each value of its input. */
const values = (...list: readonly (number | undefined)[]): Listing[] => list.map((bytes) => [task(bytes)]);

/** A task without input bytes of its own. */
const inputs = (...list: readonly (number | undefined)[]): TaskRecord =>
  buildTaskRecord({
    id: 't',
    vsId: 'v1',
    inputBytes: undefined,
    inputs: list.map((inputBytes, identity) => buildInputRecord({ identity, inputBytes })),
  });

const withOutputs = (...list: readonly Parameters<typeof buildOutputRecord>[0][]): TaskRecord =>
  buildTaskRecord({ id: 't', vsId: 'v1', outputs: list.map(buildOutputRecord) });

const outputs = (...list: readonly (readonly [bytes: number | undefined, connections: number])[]) =>
  withOutputs(
    ...list.map(([httpOutputBytes, httpConnectionsNum]) => ({ httpOutputBytes, httpConnectionsNum })),
  );

/** Commits listings one interval apart, and an empty one; returns what was counted. */
function count(listings: readonly Listing[], run = new TallyRun()) {
  for (const tasks of listings) run.commitListing({ tasks });
  // A gain is exposed with the listing after it.
  const snapshot = run.commitListing({});
  const read = (key: Parameters<typeof readValues>[1]) => sumValues(readValues(snapshot, key));
  return {
    input: read('inputBytes'),
    output: read('httpOutputBytes'),
    resets: read('byteCountResets'),
    implausible: read('byteCountImplausible'),
    started: read('tasksStarted'),
    ended: read('tasksEnded'),
    lifetimes: readLifetimes(snapshot).buckets.at(-1),
  };
}

type Case = readonly [
  name: string,
  listings: readonly Listing[],
  expected: Partial<ReturnType<typeof count>>,
];

const cases: readonly Case[] = [
  ['a dip that ends adds nothing', values(S, S + 2000, S + 1000, S + 3000), { input: 3000 }],
  ['a dip to 0 that ends adds nothing', values(S, 0, S + 1000), { input: 1000, resets: 0 }],
  ['an absurd value adds nothing', values(S, HUGE, S + 1000), { input: 1000, implausible: 1 }],
  [
    'a count that begins again adds what three listings in a row grew',
    values(S, 10, 20, 30),
    { input: 20, resets: 1, implausible: 0 },
  ],
  [
    'a listing without the task or without a value does not end a row of waiting values',
    [[task(S)], [task(10)], [], [task(20)], [task(undefined)], [task(30)]],
    { input: 20, resets: 1 },
  ],
  [
    'a step of more than a stream begins a new row below the base',
    values(S, 10, 5e8, 5e8 + 10, 5e8 + 20),
    { input: 20, resets: 1 },
  ],
  ['a fall of only two listings adds nothing', values(S, 10, 20), { input: 0, resets: 0 }],
  [
    'a fall to a value that does not grow adds nothing until it does',
    values(S, 0, 0, 0, 500),
    { input: 500, resets: 1 },
  ],
  [
    'a fall whose values do not continue each other adds nothing',
    values(S, 30, 20, 10, S),
    { input: 0, resets: 0 },
  ],
  [
    'a leap adds what three listings in a row grew',
    values(S, S + 5, S + 1e9, S + 1e9 + 10, S + 1e9 + 20),
    { input: 25, implausible: 2 },
  ],
  [
    'a step of more than a link begins a new row above the base',
    values(S, S + 1e9, S + 2e11, S + 2e11 + 10, S + 2e11 + 20),
    { input: 20 },
  ],
  [
    'an older answer is none of the three listings of a leap',
    values(S, S - 1e6, S + 1e9, S + 1e9 + 10, S + 1e9 + 20),
    { input: 20 },
  ],
  [
    'a stream faster than the setting is confirmed after three listings, and from then on',
    Array.from({ length: 8 }, (_, n) => [task(n * 1e9)]),
    // The three listings grew by 2e9; then there are four listings of 1e9.
    { input: 6e9, implausible: 2 },
  ],
  [
    'an older answer adds nothing, however often it is repeated',
    values(S, S - 30, S - 20, S - 10, S - 5, S + 1000),
    { input: 1000, resets: 0 },
  ],
  [
    'a count that returns to the one before the reset adds nothing, and grows from there',
    values(S, 10, 20, 30, S + 100, S + 150),
    { input: 70, resets: 1, implausible: 0 },
  ],
  [
    'two counts that take turns add what each grows while it is listed',
    values(S, 10, 20, 30, S + 100, 40, 50, 60, S + 200),
    { input: 40, resets: 2 },
  ],
  [
    'a count that began again adds nothing in the listing in which it gets to half of the one before the reset',
    values(1e8, 10, 20, 30, 4e7, 6e7, 7e7),
    { input: 20 + (4e7 - 30) + 1e7, resets: 1, implausible: 0 },
  ],
  [
    'a count that begins again twice can return to the larger of those before',
    values(S, 10, 20, 30, 1e8, 5, 6, 7, S + 5),
    { input: 20 + (1e8 - 30) + 2, resets: 2 },
  ],
  [
    'an absurd value that is taken for a return adds nothing, and can return',
    values(S, 10, 20, 30, HUGE - 50, 40, 50, 60, HUGE, 70, 80, 90),
    { input: 60, resets: 3, implausible: 0 },
  ],
  [
    'a count under another server that is listed every second time adds nothing',
    [[task(S)], [task(50, 'v2')], [task(S + 5)], [task(60, 'v2')], [task(S + 10)]],
    { input: 10, resets: 0 },
  ],
  [
    'the first of two entries with one id is the task',
    [
      [task(10_000, 'v2'), outputs([10, 0])],
      [task(10_500, 'v2'), task(11_000), outputs([20, 0])],
      [task(10_600, 'v2'), inputs(1e6)],
    ],
    { input: 600, output: 0, resets: 0, started: 0, ended: 1 },
  ],
  [
    'tasks that were not listed at first are only bases',
    [
      [],
      ['a', 'b', 'c', 'd', 'e'].map((id) => task(S, 'v2', id)),
      ['a', 'b', 'c', 'd', 'e'].map((id) => task(S + 200, 'v2', id)),
    ],
    { input: 1000, implausible: 5 },
  ],
  ['a task that began after the previous listing adds its whole value', [[], [task(1e8)]], { input: 1e8 }],
  [
    'a task that reads a file can have begun ten times as fast',
    [[], [buildTaskRecord({ inputBytes: 1e9, progress: 0.1 })]],
    { input: 1e9 },
  ],
  [
    'a merge of three inputs can have begun three times as fast',
    [
      [],
      [
        buildTaskRecord({
          inputBytes: 5e8,
          inputs: [1, 2, 3].map((identity) => buildInputRecord({ identity })),
        }),
      ],
    ],
    { input: 5e8 },
  ],
  [
    'an output has a stream for each connection, before or now, and one more',
    [[outputs([0, 0])], [outputs([3.7e8, 1])], [outputs([7.4e8, 0])], [outputs([9e8, 0])]],
    { output: 9e8, implausible: 0 },
  ],
  [
    'an output without connections that grows by more than one stream waits',
    [[outputs([0, 0])], [outputs([3.7e8, 0])]],
    { output: 0, implausible: 1 },
  ],
  [
    'a changed source opens at its values, and grows from there',
    [[task(1000)], [inputs(500, 400)], [inputs(510, 420)], [task(S)], [task(S + 5)]],
    { input: 35, resets: 0, implausible: 0 },
  ],
  [
    'a changed source knows no count before a reset',
    [[task(1e6)], [task(10)], [task(20)], [task(30)], [inputs(40)], [inputs(6e5)]],
    { input: 20 + 6e5 - 40, resets: 1 },
  ],
  [
    'a listing without a valid value of either source is no change',
    [[task(1000)], [inputs(undefined)], [task(1010)]],
    { input: 10 },
  ],
  [
    'equal outputs continue the largest account that they can',
    [[outputs([5e9, 0], [1000, 0])], [outputs([1100, 0])], [outputs([5e9 + 5, 0], [1200, 0])]],
    { output: 205, resets: 0, implausible: 0 },
  ],
  ['the first listing is the baseline', values(1000, 1250), { input: 250, started: 0, lifetimes: 0 }],
  ...[[], [[]]].map((before): Case => [
    `the first valid value of a field that was missing is a baseline, after ${before.length} listings`,
    [
      ...before,
      ...(
        [
          [undefined, undefined],
          [1000, 2000],
          [1001, 2002],
        ] as const
      ).map(([input, bytes]) => [{ ...outputs([bytes, 0]), inputBytes: input }]),
    ],
    { input: 1, output: 2, implausible: 0 },
  ]),
  ['input bytes are those of the task', [[], [{ ...inputs(3), inputBytes: 10 }]], { input: 10 }],
  ['input bytes are else those of the inputs', [[], [inputs(3, 4)]], { input: 7 }],
  ['input bytes are else those of the inputs with a value', [[], [inputs(3, undefined)]], { input: 3 }],
  [
    'the first value of an input is its baseline',
    [[], [inputs(3, undefined)], [inputs(4, 6)], [inputs(4, 7)]],
    { input: 5 },
  ],
  ['an input that joins adds its value', [[], [inputs(3)], [inputs(4, 5)]], { input: 9 }],
  [
    'an input that begins again adds what its waiting values grew',
    [[], [inputs(30)], [inputs(1)], [inputs(2)], [inputs(3)]],
    { input: 32, resets: 1 },
  ],
  [
    'an input that joins pays nothing for another one that began again',
    [[inputs(30)], [inputs(1)], [inputs(2)], [inputs(3)], [inputs(4, 25)]],
    { input: 2 + 1 + 25, resets: 1 },
  ],
  [
    'an input that leaves a merge and returns adds nothing',
    [[inputs(5000, 1000)], [inputs(5000)], [inputs(5000, 1000)], [inputs(5000)]],
    { input: 0, resets: 0 },
  ],
  [
    'a task that is absent for 11 listings resumes its account',
    [[outputs([S, 0])], ...Array.from({ length: 11 }, () => []), [outputs([S + 13_000, 0])]],
    { output: 13_000, started: 1, ended: 2 },
  ],
  [
    'outputs in two folders are two outputs',
    [
      [withOutputs({ relativeDir: 'a', httpOutputBytes: 1000 }, { relativeDir: 'b', httpOutputBytes: 500 })],
      [withOutputs({ relativeDir: 'b', httpOutputBytes: 1100 }, { relativeDir: 'a', httpOutputBytes: 1001 })],
    ],
    { output: 601 },
  ],
  [
    'an output whose tag changes keeps its account',
    ['a', 'b'].map((tag, n) => [withOutputs({ tag, httpOutputBytes: 1e6 + 5 * n })]),
    { output: 5 },
  ],
  [
    'a task in every second listing starts, ends and has a lifetime each time, and its bytes count once',
    [[], [task(500)], [], [task(500)], [], [task(500)]],
    { input: 500, started: 3, ended: 3, lifetimes: 3 },
  ],
  [
    'a task that ever read a file has no lifetime',
    [[], ...[0, 0.5, 0].map((progress) => [buildTaskRecord({ progress })])],
    { started: 1, ended: 1, lifetimes: 0 },
  ],
];

for (const [name, listings, expected] of cases) {
  test(name, () => {
    const counted = count(listings);
    assert.deepEqual({ ...counted, ...expected }, counted);
  });
}

test('byte counts that wait are counted by server and direction', () => {
  const run = new TallyRun();
  const listing = (input: number, output: number) => [{ ...outputs([output, 0]), inputBytes: input }];
  const waiting = [listing(S, S), listing(5, S), listing(6, S / 2), listing(7, S)].map((tasks) =>
    readValues(run.commitListing({ tasks }), 'byteCountsWaiting'),
  );
  const [input, output] = ['v1 input', 'v1 http_output'];
  assert.deepEqual(waiting, [{}, { [input]: 1 }, { [input]: 1, [output]: 1 }, { [input]: 0, [output]: 0 }]);
});

test('a restart knows the count before the reset and the rate of an account', () => {
  const fast = (n: number) => [task(n * 1e9)];
  for (const [before, after, expected] of [
    [values(S, 10, 20, 30), values(S + 100, S + 150), 70],
    [[0, 1, 2, 3].map(fast), [4, 5].map(fast), 4e9],
  ] as const) {
    const run = new TallyRun();
    for (const tasks of before) run.commitListing({ tasks });
    run.restart();
    assert.equal(count(after, run).input, expected);
  }
});

test('an older answer is confirmed after ten minutes', () => {
  const run = new TallyRun();
  run.commitListing({ tasks: [task(S)] });
  const listings = Array.from({ length: 45 }, (_, n) => [task(S - 1e6 + 10 * n)]);
  assert.deepEqual(count(listings, run).input, 440);
});

const tenTasks = (bytes: number): Listing => Array.from({ length: 10 }, (_, n) => task(bytes, 'v1', `t${n}`));

test('a restart with the clock set back by the whole gap loses nothing', () => {
  const run = new TallyRun();
  const gapBytes = 3e6 * 3600;
  for (const bytes of [S, S + 1000]) run.commitListing({ tasks: tenTasks(bytes) });
  run.restart({}, HOUR_MS, -HOUR_MS);
  run.wait(HOUR_MS - STEP_MS);
  assert.equal(count([tenTasks(S + 1000 + gapBytes)], run).input, 10 * (1000 + gapBytes));
});

test('a restart with the clock far ahead forgets no task', () => {
  const run = new TallyRun();
  run.commitListing({ tasks: tenTasks(S) });
  run.restart({}, STEP_MS, 7 * HOUR_MS);
  assert.equal(count([[], tenTasks(S + 200)], run).input, 2000);
});

test('after a gap of unknown length, a new task adds at most what a stream carries in one interval', () => {
  const run = new TallyRun();
  run.commitListing({});
  run.restart({}, STEP_MS, 7 * HOUR_MS);
  assert.equal(count([[task(1e8, 'v1', 'a'), task(S, 'v1', 'b')]], run).input, 1e8);
});

const SUSPENSIONS: readonly [name: string, hours: number, listings: readonly Listing[], input: number][] = [
  ['what a stream carried while the machine was suspended counts', 1, values(S + 4.5e10), 4.5e10],
  ['so does a task that is new after it', 1, [[task(S), task(4.5e10, 'v1', 'new')]], 4.5e10],
  ['a suspension counts as six hours at most', 9, values(S + 2.7e11 + 1), 0],
  ['it loosens the bound of one listing', 1, [[], ...values(S + 4.5e10)], 0],
];

for (const [name, hours, listings, input] of SUSPENSIONS) {
  test(name, () => {
    const run = new TallyRun();
    run.commitListing({ tasks: [task(S)] });
    run.suspend(hours * HOUR_MS);
    assert.equal(count(listings, run).input, input);
  });
}

test('a lifetime is observed if the start of its run was seen', () => {
  for (const [sinceMs, restartAfterMs, lifetimes] of [
    [3.5 * STEP_MS, undefined, 1],
    [3.5 * STEP_MS + 1, undefined, 0],
    [0, STEP_MS, 1],
    [0, 7 * HOUR_MS, 0],
  ] as const) {
    const run = new TallyRun();
    run.commitListing({});
    if (restartAfterMs !== undefined) run.restart({}, restartAfterMs);
    run.commitListing({ tasks: [task(5)] }, sinceMs);
    assert.equal(
      readLifetimes(run.commitListing({})).buckets.at(-1),
      lifetimes,
      `${sinceMs} ${restartAfterMs}`,
    );
  }
});

test('a lifetime has whole seconds, however early or late polls are', () => {
  for (const lateMs of [-499, 0, 499]) {
    const run = new TallyRun();
    run.commitListing({});
    for (const afterMs of [STEP_MS, STEP_MS + lateMs]) run.commitListing({ tasks: [task(5)] }, afterMs);
    const { buckets, sum } = readLifetimes(run.commitListing({}));
    assert.deepEqual([buckets[0], sum], [1, 15], `${lateMs}`);
  }
});

test('an account is forgotten when its task has been absent for six hours', () => {
  const tasks = [buildTaskRecord({ inputBytes: 1000 })];
  for (const [awayMs, gained] of [
    [6 * HOUR_MS - 1, 0],
    [6 * HOUR_MS, 1000],
  ] as const) {
    const run = new TallyRun();
    run.commitListing({ tasks });
    run.commitListing({}, 1000);
    run.commitListing({ tasks }, awayMs - 1000);
    assert.deepEqual(readValues(run.commitListing({ tasks }), 'inputBytes'), { 'server-1': gained });
  }
});

test('a task that moves ends on one server, starts on the other, and keeps its account', () => {
  const on = (vsId: string, bytes: number) => [
    buildTaskRecord({ vsId, inputBytes: bytes, outputs: [buildOutputRecord({ httpOutputBytes: bytes })] }),
  ];
  const run = new TallyRun();
  for (const tasks of [on('v1', 9000), on('v2', 9010), on('v2', 9015)]) run.commitListing({ tasks });
  const snapshot = run.commitListing({ tasks: on('v2', 9015) });
  assert.deepEqual(readValues(snapshot, 'inputBytes'), { v1: 0, v2: 15 });
  assert.deepEqual(readValues(snapshot, 'httpOutputBytes'), { 'v1 flv': 0, 'v2 flv': 15 });
  assert.deepEqual(readValues(snapshot, 'tasksStarted'), { v1: 0, v2: 1 });
  assert.deepEqual(readValues(snapshot, 'tasksEnded'), { v1: 1, v2: 0 });
  assert.equal(readLifetimes(snapshot).buckets.at(-1), 0);
});
