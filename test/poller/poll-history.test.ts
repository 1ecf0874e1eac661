import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  PollHistory,
  REMEMBERED_POLLS,
  type EndedPoll,
  type PlottedFigures,
} from '../../src/poller/poll-history.ts';
import { POLL_ERROR_REASONS } from '../../src/upstream/errors.ts';

/** Whole numbers that a single holds as they are. */
const small = fc.integer({ min: 0, max: 1_000_000 });

const figures = fc.record({
  users: small,
  tasks: small,
  stalledTasks: small,
  connections: small,
  inputBytes: small,
  outputBytes: small,
});

/** A poll, and how long after the one before it ended. */
const poll = fc.record({
  gapMs: fc.integer({ min: 0, max: 60_000 }),
  durationMs: small,
  outcome: fc.oneof(figures, fc.constantFrom(...POLL_ERROR_REASONS)),
});

/** The same kept in a plain list. */
class Model {
  readonly #polls: { atMs: number; durationMs: number; error?: string; plotted?: PlottedFigures }[] = [];
  #before: { atMs: number; inputBytes: number; outputBytes: number } | undefined;

  note({ atMs, durationMs, error, figures: found }: EndedPoll): void {
    if (found === undefined) {
      this.#polls.push({ atMs, durationMs, error: error ?? '' });
      return;
    }
    const before = this.#before;
    const rate = (key: 'inputBytes' | 'outputBytes'): number | undefined => {
      if (before === undefined || atMs <= before.atMs || found[key] < before[key]) return undefined;
      return ((found[key] - before[key]) * 1000) / (atMs - before.atMs);
    };
    const { users, tasks, connections, inputBytes, outputBytes } = found;
    const plotted = { users, tasks, connections, ingress: rate('inputBytes'), egress: rate('outputBytes') };
    this.#before = { atMs, inputBytes, outputBytes };
    this.#polls.push({ atMs, durationMs, plotted });
  }

  points() {
    const latestMs = this.#polls.at(-1)?.atMs ?? 0;
    return this.#polls.slice(-REMEMBERED_POLLS).map(({ atMs, durationMs, error, plotted }) => ({
      beforeLatestMs: latestMs - atMs,
      durationMs,
      error,
      figures: plotted === undefined ? undefined : { ...plotted, ...singles(plotted) },
    }));
  }
}

/** Rates as a ring of singles gives them back. */
function singles({ ingress, egress }: PlottedFigures) {
  const single = (value: number | undefined) => (value === undefined ? undefined : Math.fround(value));
  return { ingress: single(ingress), egress: single(egress) };
}

test('it remembers the last polls as a plain list would', () => {
  fc.assert(
    fc.property(fc.array(poll, { maxLength: 3 * REMEMBERED_POLLS, size: 'max' }), (polls) => {
      const history = new PollHistory();
      const model = new Model();
      let atMs = 1e9;
      for (const { gapMs, durationMs, outcome } of polls) {
        atMs += gapMs;
        const ended: EndedPoll =
          typeof outcome === 'string'
            ? { atMs, durationMs, error: outcome }
            : { atMs, durationMs, figures: outcome };
        history.note(ended);
        model.note(ended);
        assert.equal(history.latestDurationMs, durationMs);
      }
      assert.deepEqual(history.points(), model.points());
    }),
  );
});

const FIGURES = { users: 1, tasks: 2, stalledTasks: 3, connections: 4, inputBytes: 0, outputBytes: 0 };

test('the first listing has no rates: nobody knows what flowed before', () => {
  const history = new PollHistory();
  history.note({ atMs: 0, durationMs: 1, figures: { ...FIGURES, inputBytes: 1e12 } });
  assert.deepEqual(history.latestListing, {
    users: 1,
    tasks: 2,
    stalledTasks: 3,
    connections: 4,
    ingress: undefined,
    egress: undefined,
  });
});

test('what flowed while polls failed is spread over all that time', () => {
  const history = new PollHistory();
  history.note({ atMs: 0, durationMs: 1, figures: FIGURES });
  history.note({ atMs: 10_000, durationMs: 1, error: 'reset' });
  history.note({ atMs: 20_000, durationMs: 1, figures: { ...FIGURES, inputBytes: 1000, outputBytes: 4000 } });
  assert.deepEqual([history.latestListing?.ingress, history.latestListing?.egress], [50, 200]);
  assert.deepEqual(
    history.points().map(({ figures: found }) => found?.egress),
    [undefined, undefined, 200],
  );
});

test('the last good listing is exact, and outlives polls that fail', () => {
  const history = new PollHistory();
  history.note({ atMs: 0, durationMs: 1, figures: { ...FIGURES, users: 16_777_217 } });
  history.note({ atMs: 1000, durationMs: 1, error: 'timeout' });
  assert.equal(history.latestListing?.users, 16_777_217);
});
