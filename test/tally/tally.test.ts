import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outputRecord, taskRecord, userRecord } from '../support/task-record.ts';
import { everySample, samplesOf, START_MS, STEP_MS, TallyRun, valuesOf } from '../support/tally-run.ts';

test('users are counted by version and device, and by server', () => {
  const users = [
    userRecord(),
    userRecord({ deviceType: '20' }),
    userRecord({ vsId: 'server-2' }),
    userRecord({ clientVersion: undefined, vsId: '' }),
  ];
  const snapshot = new TallyRun().list({ users });
  assert.deepEqual(valuesOf(snapshot, 'onlineUsers'), { '451 10': 2, '451 20': 1, 'unknown 10': 1 });
  assert.deepEqual(valuesOf(snapshot, 'serverOnlineUsers'), { 'server-1': 2, 'server-2': 1, unknown: 1 });
  assert.deepEqual(valuesOf(snapshot, 'servers'), { '': 2 });
});

test('tasks, inputs, outputs and streams are counted by their labels', () => {
  const input = { protocol: 'tcp_upload', deviceType: '10', clientVersion: '451', inputBytes: undefined };
  const streams = [
    { codecType: 1, copy: 0, bitRate: 48000 },
    { codecType: 0, copy: 1, bitRate: undefined },
    { codecType: 0, copy: 2, bitRate: 1000 },
    { codecType: 7, copy: 3, bitRate: 5 },
  ];
  const tasks = [
    taskRecord({
      id: 'a',
      inputs: [input, { ...input, protocol: 'rtmp' }],
      outputs: [outputRecord({ streams })],
    }),
    taskRecord({
      id: 'b',
      progress: 40,
      vsId: 'server-2',
      outputs: [outputRecord({ format: 'm3u8', width: undefined })],
    }),
    taskRecord({
      id: 'c',
      outputs: [outputRecord({ httpConnectionsNum: 3 }), outputRecord({ fileName: 'other' })],
    }),
  ];
  const snapshot = new TallyRun().list({ tasks });
  const expected = {
    tasks: { 'server-1': 2, 'server-2': 1 },
    tasksWithProgress: { 'server-1': 0, 'server-2': 1 },
    tasksMerging: { 'server-1': 1, 'server-2': 0 },
    tasksStalled: { 'server-1': 0, 'server-2': 0 },
    inputs: { 'server-1 tcp_upload': 1, 'server-1 rtmp': 1 },
    inputClients: { '10 451': 2 },
    outputs: { 'server-1 flv': 3, 'server-2 m3u8': 1 },
    outputRenditions: { 'libx264 aac 640x360': 3, 'libx264 aac unknown': 1 },
    outputTags: { tag: 4 },
    httpConnections: { 'server-1 flv': 3, 'server-2 m3u8': 0 },
    outputsUnwatched: { 'server-1 flv': 2 },
    streams: { 'audio transcode': 1, 'video copy': 1, 'video transcode': 1, 'unknown unknown': 1 },
    streamBitRate: {
      'audio transcode': 48000,
      'video copy': 0,
      'video transcode': 1000,
      'unknown unknown': 5,
    },
  } as const;
  for (const [key, values] of Object.entries(expected)) {
    assert.deepEqual(valuesOf(snapshot, key as keyof typeof expected), values, key);
  }
});

test('a listing that is dropped leaves no trace', () => {
  const tasks = [taskRecord({ inputBytes: 100, outputs: [outputRecord({ httpOutputBytes: 10 })] })];
  const [troubled, calm] = [new TallyRun(), new TallyRun()];
  for (const run of [troubled, calm]) run.list({ tasks });
  troubled.fail({
    tasks: [taskRecord({ inputBytes: 5 }), taskRecord({ id: 'x', inputBytes: 9 })],
    users: [userRecord()],
  });
  assert.deepEqual(everySample(troubled.list({ tasks })), everySample(calm.list({ tasks })));
});

test('the first listing is the baseline: it adds nothing and counts no starts', () => {
  const run = new TallyRun();
  const tasks = (inputBytes: number) => [taskRecord({ inputBytes })];
  assert.deepEqual(valuesOf(run.list({ tasks: tasks(1000) }), 'inputBytes'), { 'server-1': 0 });
  const second = run.list({ tasks: tasks(1250) });
  assert.deepEqual(valuesOf(second, 'inputBytes'), { 'server-1': 250 });
  assert.deepEqual(valuesOf(second, 'tasksStarted'), { 'server-1': 0 });
});

test('a baseline task whose bytes are first told later adds nothing for what it had', () => {
  const run = new TallyRun();
  run.list({ tasks: [taskRecord({ inputBytes: undefined })] });
  run.list({ tasks: [taskRecord({ inputBytes: 5000 })] });
  assert.deepEqual(valuesOf(run.list({ tasks: [taskRecord({ inputBytes: 5001 })] }), 'inputBytes'), {
    'server-1': 1,
  });
});

test('a counter is born at zero and shows at the next listing what it gained then', () => {
  const run = new TallyRun();
  run.list({});
  const tasks = [taskRecord({ inputBytes: 700 })];
  const born = run.list({ tasks });
  assert.deepEqual(valuesOf(born, 'inputBytes'), { 'server-1': 0 });
  assert.deepEqual(valuesOf(born, 'tasksStarted'), { 'server-1': 0 });
  const next = run.list({ tasks });
  assert.deepEqual(valuesOf(next, 'inputBytes'), { 'server-1': 700 });
  assert.deepEqual(valuesOf(next, 'tasksStarted'), { 'server-1': 1 });
  const [sample] = samplesOf(next, 'inputBytes');
  assert.equal(sample?.created, (START_MS + STEP_MS) / 1000);
});

test('input bytes come from the task, else from all its inputs, and never from both', async (t) => {
  const input = (inputBytes: number | undefined) => ({
    protocol: 'rtmp',
    deviceType: undefined,
    clientVersion: undefined,
    inputBytes,
  });
  const counted = (...readings: Parameters<typeof taskRecord>[0][]): number | undefined => {
    const run = new TallyRun();
    run.list({});
    let total: number | undefined;
    for (const reading of readings)
      total = valuesOf(run.list({ tasks: [taskRecord(reading)] }), 'inputBytes')['server-1'];
    return total;
  };
  const cases: [string, number, Parameters<typeof taskRecord>[0][]][] = [
    ['the task alone', 10, [{ inputBytes: 10, inputs: [input(3)] }, { inputBytes: 10 }]],
    [
      'the sum of the inputs',
      7,
      [{ inputBytes: undefined, inputs: [input(3), input(4)] }, { inputBytes: undefined }],
    ],
    [
      'no sum if one input does not say',
      0,
      [{ inputBytes: undefined, inputs: [input(3), input(undefined)] }, {}],
    ],
    [
      'no sum if one input was left out',
      0,
      [{ inputBytes: undefined, inputs: [input(3)], invalidInputs: 1 }, {}],
    ],
    [
      'a source that changes goes on',
      12,
      [{ inputBytes: 10 }, { inputBytes: undefined, inputs: [input(12)] }],
    ],
    [
      'a source that changes to less is no reset',
      10,
      [{ inputBytes: 10 }, { inputBytes: undefined, inputs: [input(2)] }],
    ],
  ];
  for (const [name, total, readings] of cases)
    await t.test(name, () => assert.equal(counted(...readings), total));
});

test('outputs alike are one: their sum grows, in whatever order they come', () => {
  const run = new TallyRun();
  const outputs = (...bytes: number[]) => [
    taskRecord({ outputs: bytes.map((httpOutputBytes) => outputRecord({ httpOutputBytes })) }),
  ];
  run.list({ tasks: outputs(100, 50) });
  assert.deepEqual(valuesOf(run.list({ tasks: outputs(60, 110) }), 'httpOutputBytes'), {
    'server-1 flv': 20,
  });
});

test('an id that repeats within a listing counts once and is told', () => {
  const listing = new TallyRun().tally.begin();
  listing.task(taskRecord());
  listing.task(taskRecord());
  assert.equal(listing.tasks.size, 1);
  assert.deepEqual(listing.invalidCounts, [{ record: 'task', reason: 'duplicate_id', count: 1 }]);
});

test('a live task is stalled once its input has stood still for the time set, and until it flows', () => {
  const run = new TallyRun({ stallAfterMs: 30_000 });
  const at = (inputBytes: number, afterMs = STEP_MS) => {
    const snapshot = run.list({ tasks: [taskRecord({ inputBytes })] }, afterMs);
    return [valuesOf(snapshot, 'tasksStalled')['server-1'], valuesOf(snapshot, 'taskStalls')['server-1']];
  };
  assert.deepEqual(at(100), [0, 0]);
  assert.deepEqual(at(200), [0, 0]);
  assert.deepEqual(at(200, 29_999), [0, 0]);
  assert.deepEqual(at(200, 1), [1, 1]);
  assert.deepEqual(at(200), [1, 1]);
  assert.deepEqual(at(201), [0, 1]);
  assert.deepEqual(at(201, 30_000), [1, 2]);
});

test('a task is not stalled that never flowed, has progress, or does not tell its bytes', () => {
  const never = { inputBytes: 0 };
  const file = { inputBytes: 100, progress: 50 };
  const silent = { inputBytes: undefined };
  for (const fields of [never, file, silent]) {
    const run = new TallyRun({ stallAfterMs: 1000 });
    for (let n = 0; n < 5; n += 1) {
      const snapshot = run.list({ tasks: [taskRecord(fields)] });
      assert.deepEqual(valuesOf(snapshot, 'tasksStalled'), { 'server-1': 0 });
    }
  }
});

test('the life of a task that ended falls into its bucket', () => {
  const run = new TallyRun();
  run.list({ tasks: [taskRecord()] });
  run.list({ tasks: [taskRecord()] }, 50_000);
  const [sample] = samplesOf(run.list({}), 'taskLifetime');
  assert.ok(sample !== undefined && 'buckets' in sample);
  assert.deepEqual(sample.buckets, [0, 1, 1, 1, 1, 1, 1, 1, 1, 1]);
  assert.equal(sample.sum, 50);
});

test('a server that left has 0 tasks and users, and its time of last sight, for an hour', () => {
  const run = new TallyRun();
  run.list({ tasks: [taskRecord()], users: [userRecord()] });
  const gone = run.list({}, 3_599_999);
  assert.deepEqual(valuesOf(gone, 'tasks'), { 'server-1': 0 });
  assert.deepEqual(valuesOf(gone, 'serverOnlineUsers'), { 'server-1': 0 });
  assert.deepEqual(valuesOf(gone, 'serverLastSeen'), { 'server-1': START_MS / 1000 });
  const forgotten = run.list({}, 1);
  assert.deepEqual(valuesOf(forgotten, 'tasks'), {});
  assert.deepEqual(valuesOf(forgotten, 'serverLastSeen'), {});
});

test('a published snapshot does not change with later listings', () => {
  const run = new TallyRun({ perTask: true });
  const tasks = [taskRecord({ inputBytes: 5, outputs: [outputRecord({ httpOutputBytes: 7 })] })];
  run.list({ tasks });
  const snapshot = run.list({ tasks, users: [userRecord()] });
  const before = structuredClone(everySample(snapshot));
  run.list({ tasks: [taskRecord({ inputBytes: 50 }), taskRecord({ id: 'b' })] });
  run.list({});
  assert.deepEqual(everySample(snapshot), before);
});
