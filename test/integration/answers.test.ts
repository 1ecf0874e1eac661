import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { FaultRequest } from '../../src/simulator/faults.ts';
import { POLL_ERROR_REASONS, type PollErrorReason } from '../../src/upstream/errors.ts';
import {
  accumulated,
  FAULTY,
  growthOver,
  inputBytesNow,
  INTERVAL_MS,
  MAX_RESPONSE_BYTES,
  ofTheService,
  outputBytesNow,
  SECRET,
  seriesWith,
  SOUND,
  STALE_AFTER_MS,
  STALL_AFTER_MS,
  startRig,
  sumOf,
  type ListedBytes,
  type Rig,
  type Series,
} from './exporting.ts';

let rig: Rig;

before(async () => {
  rig = await startRig();
});

after(async () => {
  await rig[Symbol.asyncDispose]();
});

/** The reasons for which polls of a service code failed between two readings, and how often. */
function failuresBetween(earlier: Series, later: Series, serviceCode: string): Record<string, number> {
  const counts = POLL_ERROR_REASONS.map((reason): [string, number] => {
    const name = `xvs_exporter_poll_errors_total{service_code="${serviceCode}",reason="${reason}"}`;
    const [was, is] = [earlier.get(name), later.get(name)];
    assert.ok(was !== undefined && is !== undefined, name);
    return [reason, is - was];
  });
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
}

const upOf = (series: Series, serviceCode: string): number | undefined =>
  series.get(`xvs_up{service_code="${serviceCode}"}`);
const retOf = (series: Series, serviceCode: string): number | undefined =>
  series.get(`xvs_ret{service_code="${serviceCode}"}`);

/** All that the last good listing and those before it say. */
function listed(series: Series, serviceCode: string): Series {
  const all = ofTheService(series, serviceCode);
  return new Map([...all].filter(([name]) => !/^xvs_(?:up|ret)\{/.test(name)));
}

const growthOf = (family: string, earlier: Series, later: Series, serviceCode: string): number =>
  sumOf(later, family, serviceCode) - sumOf(earlier, family, serviceCode);

/** Holds the counters of bytes to what the service listed at the time of each good poll. */
class Account {
  readonly #serviceCode: string;
  readonly #start: Series;
  readonly #startMs: number;
  readonly #inputs: ListedBytes[] = [];
  readonly #outputs: ListedBytes[] = [];

  constructor(start: Series, serviceCode: string) {
    this.#start = start;
    this.#startMs = rig.clock.now();
    this.#serviceCode = serviceCode;
    this.note();
  }

  /** Notes the listing that a good poll found. */
  note(): void {
    this.#inputs.push(inputBytesNow(rig, this.#serviceCode));
    this.#outputs.push(outputBytesNow(rig, this.#serviceCode));
  }

  check(end: Series): void {
    const input = growthOf('xvs_input_bytes_total', this.#start, end, this.#serviceCode);
    const output = growthOf('xvs_http_output_bytes_total', this.#start, end, this.#serviceCode);
    assert.deepEqual(
      { input, output },
      { input: growthOver(this.#inputs), output: growthOver(this.#outputs) },
    );
    const interval = [this.#startMs, rig.clock.now(), rig.simulator.faults.freezes()] as const;
    assert.ok(input <= rig.world.inputBytesPushed(this.#serviceCode, ...interval));
    assert.ok(output <= rig.world.httpOutputBytesPushed(this.#serviceCode, ...interval));
  }
}

interface Failure {
  readonly fault: FaultRequest;
  readonly reason: PollErrorReason;
  /** What the answer's `ret` is; for some it depends on what arrived before the connection broke. */
  readonly ret?: number | 'any';
}

const FAILURES: readonly Failure[] = [
  { fault: { fault: 'refuse' }, reason: 'reset' },
  { fault: { fault: 'reset_headers' }, reason: 'reset' },
  { fault: { fault: 'reset_body' }, reason: 'reset', ret: 'any' },
  { fault: { fault: 'silence' }, reason: 'timeout' },
  { fault: { fault: 'silence_body' }, reason: 'timeout', ret: 0 },
  { fault: { fault: 'drip' }, reason: 'timeout' },
  { fault: { fault: 'truncate' }, reason: 'not_json', ret: 0 },
  { fault: { fault: 'http_status', status: 503 }, reason: 'http_status', ret: 503 },
  { fault: { fault: 'http_status', status: 429, retryAfter: '1' }, reason: 'http_status', ret: 429 },
  { fault: { fault: 'http_status', status: 404, body: 'html' }, reason: 'http_status' },
  { fault: { fault: 'http_status', status: 200 }, reason: 'api_error', ret: 200 },
  { fault: { fault: 'redirect' }, reason: 'http_status' },
  { fault: { fault: 'ret', value: 7 }, reason: 'api_error', ret: 7 },
  { fault: { fault: 'ret', value: -1 }, reason: 'api_error', ret: -1 },
  { fault: { fault: 'ret', value: '7' }, reason: 'api_error', ret: 7 },
  { fault: { fault: 'ret', value: 'no' }, reason: 'bad_shape' },
  { fault: { fault: 'html' }, reason: 'not_json' },
  { fault: { fault: 'empty' }, reason: 'not_json' },
  { fault: { fault: 'bad_gzip' }, reason: 'not_json' },
  { fault: { fault: 'bad_list', list: 'user_list' }, reason: 'bad_shape', ret: 0 },
  { fault: { fault: 'bad_list', list: 'user_list', form: 'null' }, reason: 'bad_shape', ret: 0 },
  { fault: { fault: 'bad_list', list: 'user_list', form: 'object' }, reason: 'bad_shape', ret: 0 },
  { fault: { fault: 'bad_list', list: 'task_list' }, reason: 'bad_shape', ret: 0 },
  { fault: { fault: 'bad_list', list: 'task_list', form: 'null' }, reason: 'bad_shape', ret: 0 },
  { fault: { fault: 'bad_list', list: 'task_list', form: 'object' }, reason: 'bad_shape', ret: 0 },
  { fault: { fault: 'huge', bytes: 2 * MAX_RESPONSE_BYTES }, reason: 'too_large' },
  { fault: { fault: 'huge' }, reason: 'too_large' },
];

for (const { fault, reason, ret } of FAILURES) {
  test(`${JSON.stringify(fault)} is ${reason}, of one service code alone, and loses no byte`, async () => {
    const { clock, simulator, world } = rig;
    const start = await rig.settle();
    const accounts = { faulty: new Account(start, FAULTY), sound: new Account(start, SOUND) };

    simulator.faults.set({ ...fault, serviceCode: FAULTY });
    clock.advance(INTERVAL_MS);
    const failed = await rig.poll();
    accounts.sound.note();
    assert.deepEqual(failuresBetween(start, failed, FAULTY), { [reason]: 1 });
    assert.equal(upOf(failed, FAULTY), 0);
    if (ret !== 'any') assert.equal(retOf(failed, FAULTY), ret);
    assert.deepEqual(listed(failed, FAULTY), listed(start, FAULTY));

    assert.deepEqual(failuresBetween(start, failed, SOUND), {});
    assert.deepEqual([upOf(failed, SOUND), retOf(failed, SOUND)], [1, 0]);
    const { tasks } = world.account(SOUND, clock.now(), simulator.faults.freezes());
    for (const [vsId, count] of Object.entries(tasks)) {
      assert.equal(failed.get(`xvs_tasks{service_code="${SOUND}",vs_id="${vsId}"}`), count, vsId);
    }

    simulator.faults.clear();
    clock.advance(INTERVAL_MS);
    const recovered = await rig.settle();
    assert.deepEqual(failuresBetween(failed, recovered, FAULTY), {});
    assert.deepEqual([upOf(recovered, FAULTY), retOf(recovered, FAULTY)], [1, 0]);
    for (const account of Object.values(accounts)) {
      account.note();
      account.check(recovered);
    }
  });
}

test('white space in front of a listing, as long as it is not too much, is no failure', async () => {
  const start = await rig.settle();
  const bytes = MAX_RESPONSE_BYTES / 2;
  rig.simulator.faults.set({ fault: 'huge', bytes, serviceCode: FAULTY });
  const end = await rig.poll();
  rig.simulator.faults.clear();
  assert.deepEqual([upOf(end, FAULTY), failuresBetween(start, end, FAULTY)], [1, {}]);
  assert.deepEqual(listed(end, FAULTY), listed(start, FAULTY));
  assert.ok((end.get(`xvs_exporter_response_bytes{service_code="${FAULTY}"}`) ?? 0) > bytes);
});

test('records that break the interface are left out and counted, the rest stands, and no byte is lost', async () => {
  const { clock, simulator, world } = rig;
  const start = await rig.settle();
  const sound = new Account(start, SOUND);
  const inputs = [inputBytesNow(rig, FAULTY)];

  simulator.faults.set({ fault: 'bad_record', every: 2, serviceCode: FAULTY });
  clock.advance(INTERVAL_MS);
  const spoiled = await rig.poll();
  inputs.push(inputBytesNow(rig, FAULTY, (index) => index % 2 === 0));
  sound.note();
  const users = [...world.users(FAULTY, clock.now())].length;
  const tasks = [...world.tasks(FAULTY, clock.now())].length;
  assert.equal(upOf(spoiled, FAULTY), 1);
  assert.equal(sumOf(spoiled, 'xvs_online_users', FAULTY), Math.ceil(users / 2));
  assert.equal(sumOf(spoiled, 'xvs_tasks', FAULTY), Math.ceil(tasks / 2));
  for (const [record, count] of [
    ['user', Math.floor(users / 2)],
    ['task', Math.floor(tasks / 2)],
  ] as const) {
    const prefix = 'xvs_exporter_invalid_records_total{';
    const ofKind = [...seriesWith(spoiled, prefix, FAULTY)].filter(([name]) =>
      name.includes(`record="${record}"`),
    );
    assert.equal(
      ofKind.reduce((sum, [, value]) => sum + value, 0),
      count,
      record,
    );
  }
  assert.equal(sumOf(spoiled, 'xvs_exporter_invalid_records_total', SOUND), 0);

  simulator.faults.clear();
  clock.advance(INTERVAL_MS);
  const end = await rig.settle();
  inputs.push(inputBytesNow(rig, FAULTY));
  sound.note();
  assert.equal(growthOf('xvs_input_bytes_total', start, end, FAULTY), growthOver(inputs));
  assert.equal(sumOf(end, 'xvs_byte_count_resets_total', FAULTY), 0);
  sound.check(end);
});

test('a listing that is empty once ends all tasks, and their bytes go on where they were', async () => {
  const start = await rig.settle();
  const account = new Account(start, FAULTY);
  const running = sumOf(start, 'xvs_tasks', FAULTY);
  rig.simulator.faults.set({ fault: 'ret', value: '0', serviceCode: FAULTY });
  rig.clock.advance(INTERVAL_MS);
  const empty = await rig.poll();
  rig.simulator.faults.clear();
  assert.deepEqual([upOf(empty, FAULTY), sumOf(empty, 'xvs_tasks', FAULTY)], [1, 0]);
  assert.equal(growthOf('xvs_tasks_ended_total', start, empty, FAULTY), running);
  rig.clock.advance(INTERVAL_MS);
  const end = await rig.settle();
  account.note();
  account.check(end);
});

test('where no task ends, the counters grow by what was pushed, to the byte', async () => {
  const { clock, world, simulator } = rig;
  let start = await rig.settle();
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const startMs = clock.now();
    clock.advance(1000);
    const end = await rig.settle();
    if (growthOf('xvs_tasks_ended_total', start, end, SOUND) === 0) {
      const interval = [startMs, clock.now(), simulator.faults.freezes()] as const;
      const input = growthOf('xvs_input_bytes_total', start, end, SOUND);
      const output = growthOf('xvs_http_output_bytes_total', start, end, SOUND);
      assert.ok(input > 0 && output > 0);
      assert.equal(input, world.inputBytesPushed(SOUND, ...interval));
      assert.equal(output, world.httpOutputBytesPushed(SOUND, ...interval));
      return;
    }
    start = end;
  }
  assert.fail('Expected a second in which no task ended');
});

test('tasks whose input stands still are stalled, those of the other service code are not', async () => {
  const { clock, simulator, world } = rig;
  const start = await rig.settle();
  const account = new Account(start, FAULTY);
  simulator.faults.set({ fault: 'freeze_ingest', serviceCode: FAULTY });
  let frozen = start;
  for (let waitedMs = 0; waitedMs < STALL_AFTER_MS; waitedMs += INTERVAL_MS) {
    clock.advance(INTERVAL_MS);
    frozen = await rig.settle();
    account.note();
  }
  const tasks = [...world.tasks(FAULTY, clock.now(), simulator.faults.freezes())];
  const standing = tasks.filter((task) => task.progress === 0 && task.input_bytes > 0).length;
  assert.ok(standing > 0);
  assert.equal(upOf(frozen, FAULTY), 1);
  assert.equal(sumOf(frozen, 'xvs_tasks_stalled', FAULTY), standing);
  assert.equal(sumOf(frozen, 'xvs_tasks_stalled', SOUND), 0);
  assert.equal(growthOf('xvs_input_bytes_total', start, frozen, FAULTY), 0);

  simulator.faults.clear();
  clock.advance(INTERVAL_MS);
  const thawed = await rig.settle();
  account.note();
  assert.equal(sumOf(thawed, 'xvs_tasks_stalled', FAULTY), 0);
  account.check(thawed);
});

test('when polls have failed for long, gauges vanish and counters stay, of one service code alone', async () => {
  const start = await rig.settle();
  const account = new Account(start, FAULTY);
  rig.simulator.faults.set({ fault: 'html', serviceCode: FAULTY });
  rig.clock.advance(STALE_AFTER_MS + 1);
  const stale = await rig.poll();
  const lasting = new Map([...accumulated(start, FAULTY), [`xvs_up{service_code="${FAULTY}"}`, 0]]);
  assert.deepEqual(ofTheService(stale, FAULTY), lasting);
  assert.equal(upOf(stale, SOUND), 1);
  assert.ok(sumOf(stale, 'xvs_tasks', SOUND) > 0);
  rig.simulator.faults.clear();
  const recovered = await rig.settle();
  account.note();
  account.check(recovered);
});

test('when the service is gone, no connection can be made', async () => {
  const start = await rig.settle();
  await rig.simulator[Symbol.asyncDispose]();
  const gone = await rig.poll();
  for (const serviceCode of [FAULTY, SOUND]) {
    assert.equal(upOf(gone, serviceCode), 0);
    assert.deepEqual(failuresBetween(start, gone, serviceCode), { connect: 1 });
    assert.deepEqual(listed(gone, serviceCode), listed(start, serviceCode));
  }
});

test('whatever happened, no line of the log has a secret, a signature or a URL', () => {
  const text = rig.lines.join('');
  assert.ok(rig.lines.length > 100);
  assert.doesNotMatch(text, /:\/\/|xvs-signature|[0-9a-f]{64}/i);
  assert.equal(text.includes(SECRET), false);
});
