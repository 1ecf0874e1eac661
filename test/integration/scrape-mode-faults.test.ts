import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ExpectedTotals } from './expected-totals.ts';
import { clearFaults } from './fault-actions.ts';
import { CODES, INTERVAL_MS, type Code } from './rig-configuration.ts';
import type { Fault } from './faults/fault.ts';
import { FAULTS } from './faults/table.ts';
import { Rig } from './rig.ts';
import {
  countFailures,
  computeGrowth,
  selectListingSeries,
  readValue,
  type Series,
} from '../support/series.ts';

/** Long for a busy machine, but shorter than the 5 s after which a server closes an idle connection. */
const FAULTY_TIMEOUT_MS = 4000;

/** Faults with longer pauses, in scrapes, are left out. */
const MAX_SKIPPED = 10;

/** One fault for each combination of reason, service code, timestamp check and pause. */
const SAMPLE: readonly Fault[] = [
  ...new Map(
    FAULTS.filter(({ skippedPolls = 0 }) => skippedPolls <= MAX_SKIPPED).map((fault) => [
      [fault.reason, fault.faultyCode, fault.isTimestampFault, fault.skippedPolls].join(),
      fault,
    ]),
  ).values(),
];

let rig: Rig;
const pollerErrors: unknown[] = [];

before(async () => {
  rig = await Rig.start({ mode: 'scrape', faultyTimeoutMs: FAULTY_TIMEOUT_MS });
  rig.exporter.poller.start().catch((error: unknown) => pollerErrors.push(error));
});

after(async () => {
  await rig[Symbol.asyncDispose]();
  assert.deepEqual(pollerErrors, []);
});

/** Advances the clock by an interval and scrapes twice concurrently. */
async function scrape(): Promise<Series> {
  rig.clock.advance(INTERVAL_MS);
  const [series] = await Promise.all([rig.poll(), rig.poll()]);
  return series;
}

/** Asserts that the concurrent scrapes polled each service code once, and that only the poll of the victim failed. */
function assertFailed(start: Series, failed: Series, victim: Code, { reason, ret }: Fault): void {
  for (const code of CODES) {
    assert.equal(computeGrowth('xvs_exporter_polls_total', start, failed, code), 1, code);
    assert.equal(readValue(failed, 'xvs_up', code), code === victim ? 0 : 1, code);
    assert.deepEqual(countFailures(start, failed, code), code === victim ? { [reason]: 1 } : {}, code);
  }
  if (ret !== 'any') assert.equal(readValue(failed, 'xvs_ret', victim), ret);
  assert.deepEqual(selectListingSeries(failed, victim), selectListingSeries(start, victim));
}

/** Scrapes during a requested pause, and asserts that each scrape skips the poll of the victim and counts that once. */
async function waitOutRetryAfter(
  failed: Series,
  victim: Code,
  skipped: number,
  accounts: ExpectedTotals,
): Promise<void> {
  for (let count = 1; count <= skipped; count += 1) {
    rig.clock.advance(INTERVAL_MS);
    await rig.poll();
    // The first scrape gets a new series at 0.
    const later = await rig.read();
    for (const code of CODES) if (code !== victim) accounts.recordListing(code);
    assert.equal(computeGrowth('xvs_exporter_polls_skipped_total', failed, later, victim), count);
    assert.equal(computeGrowth('xvs_exporter_polls_total', failed, later, victim), 0);
  }
}

test('the sample has every error reason and a fault with a pause', () => {
  assert.equal(
    new Set(SAMPLE.map(({ reason }) => reason)).size,
    new Set(FAULTS.map((fault) => fault.reason)).size,
  );
  assert.ok(SAMPLE.some(({ skippedPolls = 0 }) => skippedPolls > 1));
});

for (const fault of SAMPLE) {
  const { name, reason, faultyCode = 'FAULTY', skippedPolls: skipped = 0 } = fault;
  test(`${name}: in scrape mode, one poll of one service code fails with ${reason}, and no byte is lost or counted twice`, async () => {
    const start = await rig.pollTwice();
    const accounts = new ExpectedTotals(rig, start);
    const target = rig.createFaultTarget(faultyCode);
    try {
      await fault.make(target);
      const failed = await scrape();
      for (const code of CODES) if (code !== faultyCode) accounts.recordListing(code);
      assertFailed(start, failed, faultyCode, fault);
      await waitOutRetryAfter(failed, faultyCode, skipped, accounts);
      await clearFaults(target);
      rig.clock.advance(INTERVAL_MS);
      await rig.poll();
      for (const code of CODES) accounts.recordListing(code);
      const recovered = await rig.pollTwice();
      assert.deepEqual(
        [readValue(recovered, 'xvs_up', faultyCode), readValue(recovered, 'xvs_ret', faultyCode)],
        [1, 0],
      );
      accounts.assertCountersMatch(recovered);
    } finally {
      await clearFaults(target);
    }
  });
}
