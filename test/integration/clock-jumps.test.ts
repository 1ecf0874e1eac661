import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { CODES } from './rig-configuration.ts';
import { ExpectedTotals } from './expected-totals.ts';
import { Rig } from './rig.ts';
import {
  countFailures,
  computeGrowth,
  selectListingSeries,
  sumSeries,
  readValue,
} from '../support/series.ts';

let rig: Rig;

before(async () => {
  rig = await Rig.start();
  await rig.round();
});

after(async () => {
  await rig[Symbol.asyncDispose]();
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
