import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  PollHistory,
  HISTORY_CAPACITY,
  type CompletedPoll,
  type PlottedTotals,
} from '../../../src/poller/poll-history.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';

/** Integers that single precision represents exactly. */
const count = fc.integer({ min: 0, max: 1_000_000 });

const totals = fc.record({
  users: count,
  tasks: count,
  stalledTasks: count,
  tasksWithoutInput: fc.constant(0),
  tasksWithProgress: fc.constant(0),
  connections: count,
  inputBytes: count,
  outputBytes: count,
});

const poll = fc.record({
  gapMs: fc.integer({ min: 0, max: 60_000 }),
  durationMs: count,
  outcome: fc.oneof(totals, fc.constantFrom(...POLL_ERROR_REASONS)),
  errorCode: fc.option(fc.integer({ min: 100, max: 70_000 }), { nil: undefined }),
});

/** A history in a plain list. */
class Model {
  readonly #polls: {
    atMs: number;
    durationMs: number;
    error?: string;
    errorCode?: number | undefined;
    plotted?: PlottedTotals;
  }[] = [];
  #last: { atMs: number; inputBytes: number; outputBytes: number } | undefined;

  append({ atMs, durationMs, error, errorCode, totals: found }: CompletedPoll): void {
    if (found === undefined) {
      this.#polls.push({ atMs, durationMs, error: error ?? '', errorCode });
      return;
    }
    const last = this.#last;
    const rate = (key: 'inputBytes' | 'outputBytes'): number | undefined => {
      if (last === undefined || atMs <= last.atMs || found[key] < last[key]) return undefined;
      return ((found[key] - last[key]) * 1000) / (atMs - last.atMs);
    };
    const { users, tasks, connections, inputBytes, outputBytes } = found;
    const plotted = { users, tasks, connections, ingress: rate('inputBytes'), egress: rate('outputBytes') };
    this.#last = { atMs, inputBytes, outputBytes };
    this.#polls.push({ atMs, durationMs, plotted });
  }

  entries() {
    const latestMs = this.#polls.at(-1)?.atMs ?? 0;
    return this.#polls.slice(-HISTORY_CAPACITY).map(({ atMs, durationMs, error, errorCode, plotted }) => ({
      beforeLatestMs: latestMs - atMs,
      durationMs,
      error,
      errorCode,
      totals: plotted === undefined ? undefined : { ...plotted, ...roundToSingle(plotted) },
    }));
  }
}

function roundToSingle({ ingress, egress }: PlottedTotals) {
  const single = (value: number | undefined) => (value === undefined ? undefined : Math.fround(value));
  return { ingress: single(ingress), egress: single(egress) };
}

test('it keeps the last polls as a plain list would', () => {
  fc.assert(
    fc.property(fc.array(poll, { maxLength: 3 * HISTORY_CAPACITY, size: 'max' }), (polls) => {
      const history = new PollHistory();
      const model = new Model();
      let atMs = 1e9;
      for (const { gapMs, durationMs, outcome, errorCode } of polls) {
        atMs += gapMs;
        const completed: CompletedPoll =
          typeof outcome === 'string'
            ? { atMs, durationMs, error: outcome, errorCode }
            : { atMs, durationMs, totals: outcome };
        history.append(completed);
        model.append(completed);
        assert.equal(history.latestDurationMs, durationMs);
      }
      assert.deepEqual(history.entries(), model.entries());
    }),
  );
});

const TOTALS = {
  users: 1,
  tasks: 2,
  stalledTasks: 3,
  tasksWithoutInput: 0,
  tasksWithProgress: 0,
  connections: 4,
  inputBytes: 0,
  outputBytes: 0,
};

test('the last good listing has full precision and remains when later polls fail', () => {
  const history = new PollHistory();
  history.append({ atMs: 0, durationMs: 1, totals: { ...TOTALS, users: 16_777_217 } });
  history.append({ atMs: 1000, durationMs: 1, error: 'timeout' });
  assert.equal(history.latestListing?.users, 16_777_217);
});
