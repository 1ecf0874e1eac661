import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Accounts } from './accounts.ts';
import { mend } from './breaking.ts';
import { CODES, INTERVAL_MS, type Code } from './configured.ts';
import type { Fault } from './faults/fault.ts';
import { FAULTS } from './faults/table.ts';
import { Rig } from './rig.ts';
import { failuresBetween, growthOf, listed, valueOf, type Series } from './series.ts';

/** No pause is sat out that takes more scrapes. */
const MAX_SKIPPED = 10;

/** One fault of each way to fail. */
const SAMPLE: readonly Fault[] = [
  ...new Map(
    FAULTS.filter(({ skipped = 0 }) => skipped <= MAX_SKIPPED).map((fault) => [
      [fault.reason, fault.via, fault.isOfTime, fault.skipped].join(),
      fault,
    ]),
  ).values(),
];

let rig: Rig;
const mistakes: unknown[] = [];

before(async () => {
  rig = await Rig.start({ mode: 'scrape' });
  rig.exporter.poller.start().catch((error: unknown) => mistakes.push(error));
});

after(async () => {
  await rig[Symbol.asyncDispose]();
  assert.deepEqual(mistakes, []);
});

/** An interval later, two scrapers come at the same time. */
async function scrape(): Promise<Series> {
  rig.clock.advance(INTERVAL_MS);
  const [series] = await Promise.all([rig.poll(), rig.poll()]);
  return series;
}

/** Each service code was polled once, though two asked; that of the victim failed, and no other. */
function checkFailed(start: Series, failed: Series, victim: Code, { reason, ret }: Fault): void {
  for (const code of CODES) {
    assert.equal(growthOf('xvs_exporter_polls_total', start, failed, code), 1, code);
    assert.equal(valueOf(failed, 'xvs_up', code), code === victim ? 0 : 1, code);
    assert.deepEqual(failuresBetween(start, failed, code), code === victim ? { [reason]: 1 } : {}, code);
  }
  if (ret !== 'any') assert.equal(valueOf(failed, 'xvs_ret', victim), ret);
  assert.deepEqual(listed(failed, victim), listed(start, victim));
}

/** Scrapes through a pause that the service asked for: each leaves the victim out, and counts that once. */
async function sitOut(failed: Series, victim: Code, skipped: number, accounts: Accounts): Promise<void> {
  for (let count = 1; count <= skipped; count += 1) {
    rig.clock.advance(INTERVAL_MS);
    const later = await rig.poll();
    for (const code of CODES) if (code !== victim) accounts.note(code);
    assert.equal(growthOf('xvs_exporter_polls_skipped_total', failed, later, victim), count);
    assert.equal(growthOf('xvs_exporter_polls_total', failed, later, victim), 0);
  }
}

test('the sample has every reason for which a poll can fail, and pauses', () => {
  assert.equal(
    new Set(SAMPLE.map(({ reason }) => reason)).size,
    new Set(FAULTS.map((fault) => fault.reason)).size,
  );
  assert.ok(SAMPLE.some(({ skipped = 0 }) => skipped > 1));
});

for (const fault of SAMPLE) {
  const { name, reason, via: victim = 'FAULTY', skipped = 0 } = fault;
  test(`${name}, as scrapes see it: ${reason}, once, of one service code alone; no byte is lost or counted twice`, async () => {
    const start = await rig.settle();
    const accounts = new Accounts(rig, start);
    const it = rig.breakable(victim);
    try {
      await fault.make(it);
      const failed = await scrape();
      for (const code of CODES) if (code !== victim) accounts.note(code);
      checkFailed(start, failed, victim, fault);
      await sitOut(failed, victim, skipped, accounts);
      await mend(it);
      rig.clock.advance(INTERVAL_MS);
      await rig.poll();
      for (const code of CODES) accounts.note(code);
      const recovered = await rig.settle();
      assert.deepEqual([valueOf(recovered, 'xvs_up', victim), valueOf(recovered, 'xvs_ret', victim)], [1, 0]);
      accounts.check(recovered);
    } finally {
      await mend(it);
    }
  });
}
