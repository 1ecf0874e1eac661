import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CODES, MAX_RESPONSE_BYTES, STALE_AFTER_MS, STALL_AFTER_MS, INTERVAL_MS } from './configured.ts';
import { Accounts } from './accounts.ts';
import { Rig } from './rig.ts';
import { accumulated, failuresBetween, growthOf, listed, ofTheService, sumOf, valueOf } from './series.ts';

/** What is no failure, or lasts for longer than one: how the exporter takes it, of one service code alone. */
let rig: Rig;

before(async () => {
  rig = await Rig.start();
  await rig.round();
});

after(async () => {
  await rig[Symbol.asyncDispose]();
});

test('white space in front of a listing, as long as it is not too much, is no failure', async () => {
  const start = await rig.settle();
  const bytes = MAX_RESPONSE_BYTES / 2;
  rig.simulator.faults.set({ fault: 'huge', bytes, serviceCode: 'FAULTY' });
  const end = await rig.poll();
  rig.simulator.faults.clear();
  assert.deepEqual([valueOf(end, 'xvs_up', 'FAULTY'), failuresBetween(start, end, 'FAULTY')], [1, {}]);
  assert.deepEqual(listed(end, 'FAULTY'), listed(start, 'FAULTY'));
  assert.ok((valueOf(end, 'xvs_exporter_response_bytes', 'FAULTY') ?? 0) > bytes);
});

test('records that break the interface are left out and counted, the rest stands, and no byte is lost', async () => {
  const { clock, simulator, world } = rig;
  const start = await rig.settle();
  const accounts = new Accounts(rig, start);
  accounts.isListed = (code, index) => code !== 'FAULTY' || index % 2 === 0;
  simulator.faults.set({ fault: 'bad_record', every: 2, serviceCode: 'FAULTY' });
  await rig.round({ onPoll: accounts.note });
  const unspoiled = await rig.read();
  const spoiled = await rig.poll();
  for (const code of CODES) accounts.note(code);

  const users = [...world.users('FAULTY', clock.now())].length;
  const tasks = [...world.tasks('FAULTY', clock.now())].length;
  assert.equal(valueOf(spoiled, 'xvs_up', 'FAULTY'), 1);
  assert.equal(sumOf(spoiled, 'xvs_online_users', 'FAULTY'), Math.ceil(users / 2));
  assert.equal(sumOf(spoiled, 'xvs_tasks', 'FAULTY'), Math.ceil(tasks / 2));
  const leftOut = growthOf('xvs_exporter_invalid_records_total', unspoiled, spoiled, 'FAULTY');
  assert.equal(leftOut, Math.floor(users / 2) + Math.floor(tasks / 2));
  assert.equal(sumOf(spoiled, 'xvs_exporter_invalid_records_total', 'SOUND'), 0);

  simulator.faults.clear();
  accounts.isListed = () => true;
  await rig.round({ onPoll: accounts.note });
  const end = await rig.settle();
  for (const code of CODES) accounts.note(code);
  accounts.check(end);
  assert.equal(sumOf(end, 'xvs_byte_count_resets_total', 'FAULTY'), 0);
});

test('a listing that is empty once ends all tasks, and their bytes go on where they were', async () => {
  const start = await rig.settle();
  const accounts = new Accounts(rig, start);
  const running = sumOf(start, 'xvs_tasks', 'FAULTY');
  rig.simulator.faults.set({ fault: 'ret', value: '0', serviceCode: 'FAULTY' });
  const empty = await rig.poll();
  rig.simulator.faults.clear();
  accounts.isListed = (code) => code !== 'FAULTY';
  for (const code of CODES) accounts.note(code);
  accounts.isListed = () => true;
  assert.deepEqual([valueOf(empty, 'xvs_up', 'FAULTY'), sumOf(empty, 'xvs_tasks', 'FAULTY')], [1, 0]);
  assert.equal(growthOf('xvs_tasks_ended_total', start, empty, 'FAULTY'), running);
  await rig.round({ onPoll: accounts.note });
  const end = await rig.settle();
  for (const code of CODES) accounts.note(code);
  accounts.check(end);
});

test('where no task ends, the counters grow by what was pushed, to the byte', async () => {
  const { clock, world, simulator } = rig;
  let start = await rig.settle();
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const startMs = clock.now();
    await rig.round();
    const end = await rig.settle();
    if (growthOf('xvs_tasks_ended_total', start, end, 'SOUND') === 0) {
      const interval = [startMs, clock.now(), simulator.faults.freezes()] as const;
      const input = growthOf('xvs_input_bytes_total', start, end, 'SOUND');
      const output = growthOf('xvs_http_output_bytes_total', start, end, 'SOUND');
      assert.ok(input > 0 && output > 0);
      assert.equal(input, world.inputBytesPushed('SOUND', ...interval));
      assert.equal(output, world.httpOutputBytesPushed('SOUND', ...interval));
      return;
    }
    start = end;
  }
  assert.fail('Expected an interval in which no task ended');
});

test('tasks whose input stands still are stalled, those of the other service codes are not', async () => {
  const { clock, simulator, world } = rig;
  const start = await rig.settle();
  const accounts = new Accounts(rig, start);
  simulator.faults.set({ fault: 'freeze_ingest', serviceCode: 'FAULTY' });
  for (let waitedMs = 0; waitedMs < STALL_AFTER_MS; waitedMs += INTERVAL_MS) {
    await rig.round({ onPoll: accounts.note });
  }
  const frozen = await rig.settle();
  const tasks = [...world.tasks('FAULTY', clock.now(), simulator.faults.freezes())];
  const standing = tasks.filter((task) => task.progress === 0 && task.input_bytes > 0).length;
  assert.ok(standing > 0);
  assert.equal(valueOf(frozen, 'xvs_up', 'FAULTY'), 1);
  assert.equal(sumOf(frozen, 'xvs_tasks_stalled', 'FAULTY'), standing);
  assert.equal(sumOf(frozen, 'xvs_tasks_stalled', 'SOUND'), 0);
  assert.equal(growthOf('xvs_input_bytes_total', start, frozen, 'FAULTY'), 0);

  simulator.faults.clear();
  await rig.round({ onPoll: accounts.note });
  const thawed = await rig.settle();
  for (const code of CODES) accounts.note(code);
  assert.equal(sumOf(thawed, 'xvs_tasks_stalled', 'FAULTY'), 0);
  accounts.check(thawed);
});

test('when polls have failed for long, gauges vanish and counters stay, of one service code alone', async () => {
  const start = await rig.settle();
  const accounts = new Accounts(rig, start);
  rig.simulator.faults.set({ fault: 'html', serviceCode: 'FAULTY' });
  for (let waitedMs = 0; waitedMs <= STALE_AFTER_MS; waitedMs += INTERVAL_MS) {
    await rig.round({ victim: 'FAULTY', onPoll: accounts.note });
  }
  const stale = await rig.read();
  const lasting = new Map([...accumulated(start, 'FAULTY'), ['xvs_up{service_code="FAULTY"}', 0]]);
  assert.deepEqual(ofTheService(stale, 'FAULTY'), lasting);
  assert.equal(valueOf(stale, 'xvs_up', 'SOUND'), 1);
  assert.ok(sumOf(stale, 'xvs_tasks', 'SOUND') > 0);
  rig.simulator.faults.clear();
  await rig.round({ onPoll: accounts.note });
  const recovered = await rig.settle();
  for (const code of CODES) accounts.note(code);
  accounts.check(recovered);
});

for (const [name, jumpMs] of [
  ['forward by four minutes', 4 * 60_000],
  ['back by four minutes', -4 * 60_000],
] as const) {
  test(`a clock that jumps ${name} and later back again, as far as the service tolerates, disturbs nothing`, async () => {
    const start = await rig.settle();
    const accounts = new Accounts(rig, start);
    const linesBefore = rig.log.lines.length;
    rig.exporterClock.skewMs = jumpMs;
    await rig.round({ onPoll: accounts.note });
    const jumped = await rig.settle();
    for (const code of CODES) {
      accounts.note(code);
      const atMs = valueOf(jumped, 'xvs_exporter_last_success_timestamp_seconds', code);
      assert.equal(atMs, (rig.clock.now() + jumpMs) / 1000);
      assert.equal(sumOf(jumped, 'xvs_tasks', code), [...rig.world.tasks(code, rig.clock.now())].length);
    }
    rig.exporterClock.skewMs = 0;
    await rig.round({ onPoll: accounts.note });
    const end = await rig.settle();
    for (const code of CODES) {
      accounts.note(code);
      assert.deepEqual(failuresBetween(start, end, code), {});
      assert.equal(growthOf('xvs_exporter_polls_skipped_total', start, end, code), 0);
      assert.equal(sumOf(end, 'xvs_tasks_stalled', code), sumOf(start, 'xvs_tasks_stalled', code));
      assert.deepEqual(rig.log.newsOf(code, linesBefore), []);
    }
    accounts.check(end);
  });
}

test('a clock that jumps beyond what the service tolerates fails all polls, and none once it is right again', async () => {
  const start = await rig.settle();
  const accounts = new Accounts(rig, start);
  rig.exporterClock.skewMs = 24 * 3_600_000;
  const failed = await rig.poll();
  rig.exporterClock.skewMs = 0;
  await rig.round({ onPoll: accounts.note });
  const end = await rig.settle();
  for (const code of CODES) {
    accounts.note(code);
    assert.deepEqual(failuresBetween(start, failed, code), { api_error: 1 });
    assert.deepEqual([valueOf(failed, 'xvs_up', code), valueOf(failed, 'xvs_ret', code)], [0, 1004]);
    assert.deepEqual(listed(failed, code), listed(start, code));
    assert.deepEqual(failuresBetween(failed, end, code), {});
  }
  accounts.check(end);
});
