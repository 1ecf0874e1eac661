import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { clearFaults } from './fault-actions.ts';
import { CODES, INTERVAL_MS, SECRET, type Code } from './rig-configuration.ts';
import type { Fault } from './faults/table.ts';
import { measureHeapBytes } from '../support/heap.ts';
import { Rig, type RigOptions } from './rig.ts';
import {
  countFailures,
  computeGrowth,
  selectListingSeries,
  sumSeries,
  readValue,
  type Series,
} from '../support/series.ts';

const REPETITIONS = 2;
/** More than the log lines that the test keeps from these polls. */
const MAX_GROWTH_BYTES = 2 * 1024 * 1024;

/** Asserts that the other codes were polled on schedule, to the millisecond, with success. */
function assertSchedule(rig: Rig, earlier: Series, later: Series, victim: Code, rounds: number): void {
  for (const [index, code] of CODES.entries()) {
    assert.equal(computeGrowth('xvs_exporter_polls_skipped_total', earlier, later, code), 0, code);
    if (code === victim) continue;
    assert.equal(computeGrowth('xvs_exporter_polls_total', earlier, later, code), rounds, code);
    const turnsAgo = CODES.length - 1 - index;
    const dueMs = rig.clock.now() - (turnsAgo * INTERVAL_MS) / CODES.length;
    assert.equal(readValue(later, 'xvs_exporter_last_success_timestamp_seconds', code), dueMs / 1000, code);
    assert.deepEqual([readValue(later, 'xvs_up', code), readValue(later, 'xvs_ret', code)], [1, 0], code);
    assert.deepEqual(countFailures(earlier, later, code), {}, code);
  }
}

function assertFailed(earlier: Series, later: Series, victim: Code, { reason, ret, bytes }: Fault): void {
  assert.deepEqual(countFailures(earlier, later, victim), { [reason]: 1 });
  assert.equal(computeGrowth('xvs_exporter_polls_total', earlier, later, victim), 1);
  assert.equal(readValue(later, 'xvs_up', victim), 0);
  if (ret !== 'any') assert.equal(readValue(later, 'xvs_ret', victim), ret);
  if (bytes !== undefined) assert.equal(readValue(later, 'xvs_exporter_response_bytes', victim), bytes);
}

/**
 * Waits until the requested pause has passed, and asserts that polls due meanwhile are skipped and counted.
 */
async function waitOutRetryAfter(rig: Rig, earlier: Series, victim: Code, skipped: number): Promise<Series> {
  if (skipped === 0) return earlier;
  for (let round = 0; round < skipped; round += 1) {
    await rig.round({ faultyCode: victim, isPaused: true });
  }
  // The first scrape gets a new series at 0.
  await rig.read();
  const later = await rig.read();
  const name = `xvs_exporter_polls_skipped_total{service_code="${victim}",reason="retry_after"}`;
  assert.equal((later.get(name) ?? 0) - (earlier.get(name) ?? 0), skipped);
  assert.equal(computeGrowth('xvs_exporter_polls_total', earlier, later, victim), 0);
  return later;
}

function assertRecovered(failed: Series, recovered: Series, victim: Code): void {
  assert.deepEqual(countFailures(failed, recovered, victim), {});
  assert.deepEqual([readValue(recovered, 'xvs_up', victim), readValue(recovered, 'xvs_ret', victim)], [1, 0]);
  assert.equal(sumSeries(recovered, 'xvs_byte_count_resets_total', victim), 0);
}

function assertBytesExact({ world, clock }: Rig, startMs: number, start: Series, end: Series): void {
  for (const code of CODES) {
    const growthOf = (family: string): number => computeGrowth(family, start, end, code);
    const counted = {
      input: growthOf('xvs_input_bytes_total'),
      httpOutput: growthOf('xvs_http_output_bytes_total'),
    };
    assert.deepEqual(counted, world.bytesPushed(code, startMs, clock.now()), code);
    assert.ok(counted.input > 0 && counted.httpOutput > 0, `Expected bytes of ${code} to flow`);
    assert.deepEqual([growthOf('xvs_tasks_started_total'), growthOf('xvs_tasks_ended_total')], [0, 0], code);
  }
}

async function failTwice(rig: Rig, fault: Fault, victim: Code, start: Series): Promise<Series> {
  const { skippedPolls = 0 } = fault;
  let earlier = start;
  for (const time of ['first', 'second']) {
    // The pause starts at the end of the poll.
    await rig.round({ faultyCode: victim, isQuick: skippedPolls > 0 });
    const failed = await rig.read();
    assertFailed(earlier, failed, victim, fault);
    assertSchedule(rig, earlier, failed, victim, 1);
    // At the second failure, the listing may already be stale.
    if (time === 'first')
      assert.deepEqual(selectListingSeries(failed, victim), selectListingSeries(start, victim));
    earlier = await waitOutRetryAfter(rig, failed, victim, skippedPolls);
  }
  return earlier;
}

/**
 * Besides the secret, texts that must never leave the exporter, in the form in which simulator and exporter
 * write them.
 */
const FORBIDDEN_PATTERNS: readonly (readonly [name: string, pattern: RegExp])[] = [
  ['a signature', /\b[0-9a-f]{64}\b/i],
  ['the header of a signature', /xvs-signature|xvs-timestamp/i],
  ['a play address', /\b(?:rtmp|http):\/\/vs-|\/live\/(?:id|sid)\/|vs-\d+\.example\.com/i],
  ['the source of a task', /source\.example\.net/i],
  ['a pass-through string', /room|%7B%22|opaque/i],
];

/** Lists the leaks in some texts, each with the text around it. */
function findLeaks(texts: Iterable<string>, secret: string): readonly string[] {
  const leaks = new Set<string>();
  for (const text of texts) {
    if (text.includes(secret)) leaks.add('the secret');
    for (const [name, pattern] of FORBIDDEN_PATTERNS) {
      const match = pattern.exec(text);
      if (match === null) continue;
      leaks.add(`${name}: ${text.slice(Math.max(0, match.index - 40), match.index + 60)}`);
    }
  }
  return [...leaks];
}

/**
 * Defines the tests of faults that share one rig. Each fault must fail only the polls of one service code,
 * with the expected reason, and lose no byte.
 */
export function defineFaultTests(faults: readonly Fault[], options: RigOptions = {}): void {
  let rig: Rig;

  before(async () => {
    rig = await Rig.start(options);
    await rig.round();
  });

  after(async () => {
    await rig[Symbol.asyncDispose]();
  });

  for (const fault of faults) {
    const { name, reason, faultyCode = 'FAULTY' } = fault;
    test(`${name}: one poll of one service code fails with ${reason}, and no byte is lost or counted twice`, async () => {
      const start = await rig.pollTwice();
      const startMs = rig.clock.now();
      const linesBefore = rig.log.lines.length;
      const it = rig.createFaultTarget(faultyCode);
      try {
        await fault.make(it);
        if (reason === 'timeout') rig.expectTimeout(faultyCode);
        const failed = await failTwice(rig, fault, faultyCode, start);
        assert.equal(rig.log.listNotices(faultyCode, linesBefore).join(), 'warn: Poll failed');
        rig.expectTimeout();
        await clearFaults(it);
        await rig.round();
        const recovered = await rig.pollTwice();
        assertRecovered(failed, recovered, faultyCode);
        assertBytesExact(rig, startMs, start, recovered);
      } finally {
        rig.expectTimeout();
        await clearFaults(it);
      }
      assert.equal(
        rig.log.listNotices(faultyCode, linesBefore).join(),
        'warn: Poll failed,info: Poll succeeded',
      );
      for (const code of CODES)
        if (code !== faultyCode) assert.deepEqual(rig.log.listNotices(code, linesBefore), []);
    });
  }

  // A timeout fault takes seconds, so these are not repeated.
  const quick = faults.filter(({ reason }) => reason !== 'timeout');

  const failAll = async (): Promise<void> => {
    for (const { make, faultyCode = 'FAULTY' } of quick) {
      const target = rig.createFaultTarget(faultyCode);
      await make(target);
      await rig.exporter.poller.pollOnce(new AbortController().signal);
      await clearFaults(target);
    }
  };

  if (quick.length > 0)
    test('memory does not grow over repeated faults', async () => {
      await failAll();
      const [early, pollsBefore] = [measureHeapBytes(), rig.log.pollCount];
      for (let repetition = 0; repetition < REPETITIONS; repetition += 1) await failAll();
      const [late, pollsAfter] = [measureHeapBytes(), rig.log.pollCount];
      assert.equal(pollsAfter - pollsBefore, REPETITIONS * quick.length * CODES.length);
      assert.ok(late - early < MAX_GROWTH_BYTES, `Expected a flat heap, found ${early} bytes, then ${late}`);
    });

  test('neither log nor pages contain a secret, a signature, an address or a pass-through string', () => {
    assert.ok(rig.log.texts.length > 10 * faults.length && rig.pages.length > 10 * faults.length);
    assert.deepEqual(findLeaks([...rig.log.texts, ...rig.pages], SECRET), []);
  });
}
