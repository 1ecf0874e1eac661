import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HISTORY_CAPACITY, PollHistory, type PolledTotals } from '../../../src/poller/poll-history.ts';
import { POLL_ERROR_REASONS } from '../../../src/upstream/errors.ts';

const TOTALS: PolledTotals = {
  users: 1,
  tasks: 2,
  connections: 4,
  inputBytes: 0,
  outputBytes: 0,
  serverOutputBytes: new Map(),
};

/** Integers that single precision represents exactly. */
const count = fc.integer({ min: 0, max: 1_000_000 });

const poll = fc.record({
  gapMs: fc.integer({ min: 1, max: 60_000 }),
  durationMs: count,
  error: fc.option(fc.constantFrom(...POLL_ERROR_REASONS), { nil: undefined }),
  errorCode: fc.option(fc.integer({ min: 100, max: 70_000 }), { nil: undefined }),
  users: count,
});

test('it keeps the last polls, each with its time before the latest one', () => {
  fc.assert(
    fc.property(fc.array(poll, { maxLength: 3 * HISTORY_CAPACITY, size: 'max' }), (polls) => {
      const history = new PollHistory();
      let atMs = 1e9;
      const ended = polls.map(({ gapMs, users, ...outcome }) => {
        atMs += gapMs;
        const totals = outcome.error === undefined ? { ...TOTALS, users } : undefined;
        history.append({ atMs, ...outcome, ...(totals && { totals }) });
        return { atMs, ...outcome, users: totals?.users };
      });
      assert.deepEqual(
        history.entries().map(({ totals, ...entry }) => ({ ...entry, users: totals?.users })),
        ended.slice(-HISTORY_CAPACITY).map(({ atMs: endedMs, ...kept }) => ({
          beforeLatestMs: atMs - endedMs,
          ...kept,
        })),
      );
    }),
  );
});

test('rates are those between good listings, and unknown at first, without elapsed time and after a decrease', () => {
  const history = new PollHistory();
  for (const [atMs, inputBytes] of [
    [0, 500],
    [2000, 700],
    [2000, 800],
    [4000, 100],
  ] as const) {
    history.append({ atMs, durationMs: 1, totals: { ...TOTALS, inputBytes } });
    history.append({ atMs, durationMs: 1, error: 'timeout' });
  }
  assert.deepEqual(
    history.entries().map(({ totals }) => totals && [totals.ingress, totals.egress]),
    [
      [undefined, undefined],
      [100, 0],
      [undefined, undefined],
      [undefined, 0],
    ].flatMap((rates) => [rates, undefined]),
  );
});

test('the egress of each server is that since the listing before, unknown at first', () => {
  const history = new PollHistory();
  const append = (atMs: number, ...servers: [vsId: string, bytes: number][]) => {
    history.append({ atMs, durationMs: 1, totals: { ...TOTALS, serverOutputBytes: new Map(servers) } });
    return [...(history.latestRates?.serverEgress ?? [])];
  };
  assert.deepEqual(append(0, ['a', 100]), [['a', undefined]]);
  history.append({ atMs: 1000, durationMs: 1, error: 'timeout' });
  assert.deepEqual(append(2000, ['a', 300], ['new', 50]), [
    ['a', 100],
    ['new', 25],
  ]);
  assert.deepEqual(append(4000, ['a', 300], ['new', 10]), [
    ['a', 0],
    ['new', undefined],
  ]);
});

test('the rates of the last good listing have full precision and remain when later polls fail', () => {
  const history = new PollHistory();
  for (const [second, inputBytes] of [0, 16_777_217].entries())
    history.append({ atMs: second * 1000, durationMs: 1, totals: { ...TOTALS, inputBytes } });
  history.append({ atMs: 2000, durationMs: 1, error: 'timeout' });
  assert.equal(history.latestRates?.ingress, 16_777_217);
});
