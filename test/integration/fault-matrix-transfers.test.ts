import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Accounts } from './accounts.ts';
import { mend } from './breaking.ts';
import { CODES, INTERVAL_MS, SECRET, type Code } from './configured.ts';
import type { Fault } from './faults/fault.ts';
import { FAULTS } from './faults/table.ts';
import { heapBytes } from './heap.ts';
import { leaksIn } from './leaks.ts';
import { Rig } from './rig.ts';
import { failuresBetween, growthOf, listed, sumOf, valueOf, type Series } from './series.ts';

/** Of each fault, and so many more of good polls. */
const REPETITIONS = 2;
/** What the log of so many polls takes in the test itself, and some more. */
const MAX_GROWTH_BYTES = 2 * 1024 * 1024;

let rig: Rig;

before(async () => {
  rig = await Rig.start();
  await rig.round();
});

after(async () => {
  await rig[Symbol.asyncDispose]();
});

/** The others are polled at their turn, to the millisecond, and succeed. */
function checkSchedule(earlier: Series, later: Series, victim: Code, rounds: number): void {
  for (const [index, code] of CODES.entries()) {
    assert.equal(growthOf('xvs_exporter_polls_skipped_total', earlier, later, code), 0, code);
    if (code === victim) continue;
    assert.equal(growthOf('xvs_exporter_polls_total', earlier, later, code), rounds, code);
    const turnsAgo = CODES.length - 1 - index;
    const dueMs = rig.clock.now() - (turnsAgo * INTERVAL_MS) / CODES.length;
    assert.equal(valueOf(later, 'xvs_exporter_last_success_timestamp_seconds', code), dueMs / 1000, code);
    assert.deepEqual([valueOf(later, 'xvs_up', code), valueOf(later, 'xvs_ret', code)], [1, 0], code);
    assert.deepEqual(failuresBetween(earlier, later, code), {}, code);
  }
}

function checkFailed(earlier: Series, later: Series, victim: Code, { reason, ret, bytes }: Fault): void {
  assert.deepEqual(failuresBetween(earlier, later, victim), { [reason]: 1 });
  assert.equal(growthOf('xvs_exporter_polls_total', earlier, later, victim), 1);
  assert.equal(valueOf(later, 'xvs_up', victim), 0);
  if (ret !== 'any') assert.equal(valueOf(later, 'xvs_ret', victim), ret);
  if (bytes !== undefined) assert.equal(valueOf(later, 'xvs_exporter_response_bytes', victim), bytes);
}

/** Goes through the pause that the service asked for; polls in it are left out and counted, none is made up for. */
async function sitOut(earlier: Series, victim: Code, skipped: number, accounts: Accounts): Promise<Series> {
  if (skipped === 0) return earlier;
  for (let round = 0; round < skipped; round += 1) {
    await rig.round({ victim, isPaused: true, onPoll: accounts.note });
  }
  const later = await rig.read();
  const name = `xvs_exporter_polls_skipped_total{service_code="${victim}",reason="retry_after"}`;
  assert.equal((later.get(name) ?? 0) - (earlier.get(name) ?? 0), skipped);
  assert.equal(growthOf('xvs_exporter_polls_total', earlier, later, victim), 0);
  return later;
}

function checkRecovered(failed: Series, recovered: Series, victim: Code): void {
  assert.deepEqual(failuresBetween(failed, recovered, victim), {});
  assert.deepEqual([valueOf(recovered, 'xvs_up', victim), valueOf(recovered, 'xvs_ret', victim)], [1, 0]);
  assert.equal(sumOf(recovered, 'xvs_byte_count_resets_total', victim), 0);
}

async function failTwice(fault: Fault, victim: Code, start: Series, accounts: Accounts): Promise<Series> {
  const { skipped = 0 } = fault;
  let earlier = start;
  for (const time of ['first', 'second']) {
    // A pause is counted from the end of the poll.
    await rig.round({ victim, isQuick: skipped > 0, onPoll: accounts.note });
    const failed = await rig.read();
    checkFailed(earlier, failed, victim, fault);
    checkSchedule(earlier, failed, victim, 1);
    // Later, they may have grown stale.
    if (time === 'first') assert.deepEqual(listed(failed, victim), listed(start, victim));
    earlier = await sitOut(failed, victim, skipped, accounts);
  }
  return earlier;
}

for (const fault of FAULTS) {
  const { name, reason, via: victim = 'FAULTY' } = fault;
  test(`${name}: ${reason}, once, of one service code alone; no byte is lost or counted twice`, async () => {
    const start = await rig.settle();
    const accounts = new Accounts(rig, start);
    const linesBefore = rig.log.lines.length;
    const it = rig.breakable(victim);
    try {
      await fault.make(it);
      const failed = await failTwice(fault, victim, start, accounts);
      assert.equal(rig.log.newsOf(victim, linesBefore).join(), 'warn: Poll failed');
      await mend(it);
      await rig.round({ onPoll: accounts.note });
      const recovered = await rig.settle();
      for (const code of CODES) accounts.note(code);
      checkRecovered(failed, recovered, victim);
      accounts.check(recovered);
    } finally {
      await mend(it);
    }
    assert.equal(rig.log.newsOf(victim, linesBefore).join(), 'warn: Poll failed,info: Poll succeeded');
    for (const code of CODES) if (code !== victim) assert.deepEqual(rig.log.newsOf(code, linesBefore), []);
  });
}

test('over many repetitions of all of them, memory does not grow', async () => {
  const quick = FAULTS.filter(({ reason }) => reason !== 'timeout');
  const failAll = async (): Promise<void> => {
    for (const { make, via: victim = 'FAULTY' } of quick) {
      const it = rig.breakable(victim);
      await make(it);
      await rig.exporter.poller.pollOnce(new AbortController().signal);
      await mend(it);
    }
  };
  await failAll();
  const [early, pollsBefore] = [heapBytes(), rig.log.polls];
  for (let repetition = 0; repetition < REPETITIONS; repetition += 1) await failAll();
  const [late, pollsAfter] = [heapBytes(), rig.log.polls];
  assert.equal(pollsAfter - pollsBefore, REPETITIONS * quick.length * CODES.length);
  assert.ok(late - early < MAX_GROWTH_BYTES, `Expected a flat heap, found ${early} bytes, then ${late}`);
});

test('whatever was written meanwhile, no secret, no signature, no address and nothing passed through is in it', () => {
  assert.ok(rig.log.texts.length > 10 * FAULTS.length && rig.pages.length > 10 * FAULTS.length);
  assert.deepEqual(leaksIn([...rig.log.texts, ...rig.pages], SECRET), []);
});
