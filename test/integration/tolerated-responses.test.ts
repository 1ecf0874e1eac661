import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  CODES,
  MAX_RESPONSE_BYTES,
  STALE_AFTER_MS,
  STALL_AFTER_MS,
  INTERVAL_MS,
} from './rig-configuration.ts';
import { ExpectedTotals } from './expected-totals.ts';
import { Rig } from './rig.ts';
import {
  selectCounterSeries,
  countFailures,
  computeGrowth,
  selectListingSeries,
  selectServiceSeries,
  sumSeries,
  readValue,
} from '../support/series.ts';

/** Responses that do not fail a poll, and conditions that last for several polls, each for one service code. */
let rig: Rig;

before(async () => {
  rig = await Rig.start();
  await rig.round();
});

after(async () => {
  await rig[Symbol.asyncDispose]();
});

test('white space before a listing is no failure within the size limit', async () => {
  const start = await rig.pollTwice();
  const bytes = MAX_RESPONSE_BYTES / 2;
  rig.simulator.faults.set({ fault: 'huge', bytes, serviceCode: 'FAULTY' });
  const end = await rig.poll();
  rig.simulator.faults.clear();
  assert.deepEqual([readValue(end, 'xvs_up', 'FAULTY'), countFailures(start, end, 'FAULTY')], [1, {}]);
  assert.deepEqual(selectListingSeries(end, 'FAULTY'), selectListingSeries(start, 'FAULTY'));
  assert.ok((readValue(end, 'xvs_exporter_response_bytes', 'FAULTY') ?? 0) > bytes);
});

test('invalid records are skipped and counted, all others are used, and no byte is lost', async () => {
  const { clock, simulator, world } = rig;
  const start = await rig.pollTwice();
  const accounts = new ExpectedTotals(rig, start);
  accounts.isListed = (code, index) => code !== 'FAULTY' || index % 2 === 0;
  simulator.faults.set({ fault: 'bad_record', every: 2, serviceCode: 'FAULTY' });
  await rig.round({ onPoll: accounts.recordListing });
  // The first scrape gets the new series at 0.
  await rig.read();
  await rig.round({ onPoll: accounts.recordListing });
  const unspoiled = await rig.read();
  const spoiled = await rig.poll();
  for (const code of CODES) accounts.recordListing(code);

  const users = [...world.users('FAULTY', clock.now())].length;
  const tasks = [...world.tasks('FAULTY', clock.now())].length;
  assert.equal(readValue(spoiled, 'xvs_up', 'FAULTY'), 1);
  assert.equal(sumSeries(spoiled, 'xvs_online_users', 'FAULTY'), Math.ceil(users / 2));
  assert.equal(sumSeries(spoiled, 'xvs_tasks', 'FAULTY'), Math.ceil(tasks / 2));
  const leftOut = computeGrowth('xvs_exporter_invalid_records_total', unspoiled, spoiled, 'FAULTY');
  assert.equal(leftOut, Math.floor(users / 2) + Math.floor(tasks / 2));
  assert.equal(sumSeries(spoiled, 'xvs_exporter_invalid_records_total', 'SOUND'), 0);

  simulator.faults.clear();
  accounts.isListed = () => true;
  await rig.round({ onPoll: accounts.recordListing });
  const end = await rig.pollTwice();
  for (const code of CODES) accounts.recordListing(code);
  accounts.assertCountersMatch(end);
  assert.equal(sumSeries(end, 'xvs_byte_count_resets_total', 'FAULTY'), 0);
});

test('one empty listing ends all tasks, and their byte counters continue where they were', async () => {
  const start = await rig.pollTwice();
  const accounts = new ExpectedTotals(rig, start);
  rig.simulator.faults.set({ fault: 'ret', value: '0', serviceCode: 'FAULTY' });
  const empty = await rig.poll();
  rig.simulator.faults.clear();
  accounts.isListed = (code) => code !== 'FAULTY';
  for (const code of CODES) accounts.recordListing(code);
  accounts.isListed = () => true;
  assert.deepEqual([readValue(empty, 'xvs_up', 'FAULTY'), sumSeries(empty, 'xvs_tasks', 'FAULTY')], [1, 0]);
  assert.equal(computeGrowth('xvs_tasks_ended_total', start, empty, 'FAULTY'), accounts.countEnded('FAULTY'));
  await rig.round({ onPoll: accounts.recordListing });
  const end = await rig.pollTwice();
  for (const code of CODES) accounts.recordListing(code);
  accounts.assertCountersMatch(end);
});

test('while no task ends, the counters grow by exactly the bytes pushed', async () => {
  const { clock, world, simulator } = rig;
  let start = await rig.pollTwice();
  for (let attempt = 0; attempt < 100; attempt += 1) {
    const startMs = clock.now();
    await rig.round();
    const end = await rig.pollTwice();
    if (computeGrowth('xvs_tasks_ended_total', start, end, 'SOUND') === 0) {
      const interval = [startMs, clock.now(), simulator.faults.listFreezes()] as const;
      const input = computeGrowth('xvs_input_bytes_total', start, end, 'SOUND');
      const output = computeGrowth('xvs_http_output_bytes_total', start, end, 'SOUND');
      assert.ok(input > 0 && output > 0);
      assert.equal(input, world.inputBytesPushed('SOUND', ...interval));
      assert.equal(output, world.httpOutputBytesPushed('SOUND', ...interval));
      return;
    }
    start = end;
  }
  assert.fail('Expected an interval in which no task ended');
});

test('tasks without new input are stalled, tasks of other service codes are not', async () => {
  const { clock, simulator, world } = rig;
  const start = await rig.pollTwice();
  const accounts = new ExpectedTotals(rig, start);
  simulator.faults.set({ fault: 'freeze_ingest', serviceCode: 'FAULTY' });
  for (let waitedMs = 0; waitedMs < STALL_AFTER_MS; waitedMs += INTERVAL_MS) {
    await rig.round({ onPoll: accounts.recordListing });
  }
  const frozen = await rig.pollTwice();
  const tasks = [...world.tasks('FAULTY', clock.now(), simulator.faults.listFreezes())];
  const standing = tasks.filter((task) => task.progress === 0 && task.input_bytes > 0).length;
  assert.ok(standing > 0);
  assert.equal(readValue(frozen, 'xvs_up', 'FAULTY'), 1);
  assert.equal(sumSeries(frozen, 'xvs_tasks_stalled', 'FAULTY'), standing);
  assert.equal(sumSeries(frozen, 'xvs_tasks_stalled', 'SOUND'), 0);
  assert.equal(computeGrowth('xvs_input_bytes_total', start, frozen, 'FAULTY'), 0);

  simulator.faults.clear();
  await rig.round({ onPoll: accounts.recordListing });
  const thawed = await rig.pollTwice();
  for (const code of CODES) accounts.recordListing(code);
  assert.equal(sumSeries(thawed, 'xvs_tasks_stalled', 'FAULTY'), 0);
  accounts.assertCountersMatch(thawed);
});

test('after polls of one service code have failed for staleAfterMs, its gauges vanish and its counters stay', async () => {
  const start = await rig.pollTwice();
  const accounts = new ExpectedTotals(rig, start);
  rig.simulator.faults.set({ fault: 'html', serviceCode: 'FAULTY' });
  for (let waitedMs = 0; waitedMs <= STALE_AFTER_MS; waitedMs += INTERVAL_MS) {
    await rig.round({ faultyCode: 'FAULTY', onPoll: accounts.recordListing });
  }
  const stale = await rig.read();
  const lasting = new Map([...selectCounterSeries(start, 'FAULTY'), ['xvs_up{service_code="FAULTY"}', 0]]);
  assert.deepEqual(selectServiceSeries(stale, 'FAULTY'), lasting);
  assert.equal(readValue(stale, 'xvs_up', 'SOUND'), 1);
  assert.ok(sumSeries(stale, 'xvs_tasks', 'SOUND') > 0);
  rig.simulator.faults.clear();
  await rig.round({ onPoll: accounts.recordListing });
  const recovered = await rig.pollTwice();
  for (const code of CODES) accounts.recordListing(code);
  accounts.assertCountersMatch(recovered);
});

for (const [name, jumpMs] of [
  ['forward by four minutes', 4 * 60_000],
  ['back by four minutes', -4 * 60_000],
] as const) {
  test(`a clock that jumps ${name} and back within the tolerance of the service changes no value`, async () => {
    const start = await rig.pollTwice();
    const accounts = new ExpectedTotals(rig, start);
    const linesBefore = rig.log.lines.length;
    rig.exporterClock.skewMs = jumpMs;
    await rig.round({ onPoll: accounts.recordListing });
    const jumped = await rig.pollTwice();
    for (const code of CODES) {
      accounts.recordListing(code);
      const atMs = readValue(jumped, 'xvs_exporter_last_success_timestamp_seconds', code);
      assert.equal(atMs, (rig.clock.now() + jumpMs) / 1000);
      assert.equal(sumSeries(jumped, 'xvs_tasks', code), [...rig.world.tasks(code, rig.clock.now())].length);
    }
    rig.exporterClock.skewMs = 0;
    await rig.round({ onPoll: accounts.recordListing });
    const end = await rig.pollTwice();
    for (const code of CODES) {
      accounts.recordListing(code);
      assert.deepEqual(countFailures(start, end, code), {});
      assert.equal(computeGrowth('xvs_exporter_polls_skipped_total', start, end, code), 0);
      assert.equal(sumSeries(end, 'xvs_tasks_stalled', code), sumSeries(start, 'xvs_tasks_stalled', code));
      assert.deepEqual(rig.log.listNotices(code, linesBefore), []);
    }
    accounts.assertCountersMatch(end);
  });
}

test('a clock that jumps beyond the tolerance of the service fails all polls until it is right again', async () => {
  const start = await rig.pollTwice();
  const accounts = new ExpectedTotals(rig, start);
  rig.exporterClock.skewMs = 24 * 3_600_000;
  const failed = await rig.poll();
  rig.exporterClock.skewMs = 0;
  await rig.round({ onPoll: accounts.recordListing });
  const end = await rig.pollTwice();
  for (const code of CODES) {
    accounts.recordListing(code);
    assert.deepEqual(countFailures(start, failed, code), { api_error: 1 });
    assert.deepEqual([readValue(failed, 'xvs_up', code), readValue(failed, 'xvs_ret', code)], [0, 1004]);
    assert.deepEqual(selectListingSeries(failed, code), selectListingSeries(start, code));
    assert.deepEqual(countFailures(failed, end, code), {});
  }
  accounts.assertCountersMatch(end);
});
