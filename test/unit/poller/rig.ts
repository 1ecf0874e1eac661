import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Histogram } from '../../../src/families/histogram.ts';
import { sumColumn } from '../../../src/listing/rows.ts';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import type { PolledCode } from '../../../src/poller/polled-code.ts';
import { Poller } from '../../../src/poller/poller.ts';
import { Store, type CodeState } from '../../../src/poller/store.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { readInstant } from '../../../src/runtime/instant.ts';
import { UpstreamError } from '../../../src/upstream/errors.ts';
import { ManualClient, TARGET } from '../../support/manual-client.ts';
import { advanceClock, ManualClock } from '../../support/manual-clock.ts';
import { getReaderPool } from '../../support/read-listing.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';
import { readValues, START_MS, sumValues } from '../../support/tally-run.ts';

export const INTERVAL_MS = 15_000;

export const RESET = new UpstreamError('reset', 'The connection to the service broke');

export function createPolledCode(serviceCode: string, more: Partial<PolledCode> = {}): PolledCode {
  const times = { intervalMs: INTERVAL_MS, staleAfterMs: 45_000, stallAfterMs: 60_000 };
  return { ...TARGET, serviceCode, ...times, ...more };
}

export interface RigOptions<Clock extends ManualClock> {
  readonly clock?: Clock;
  readonly intervalMs?: number;
  readonly timeoutMs?: number;
  /** Of an earlier process. */
  readonly restored?: readonly Tally[];
}

export type Rig = ReturnType<typeof createRig>;

/**
 * Creates a poller whose requests the test completes. The test fails if a timer remains or an internal error
 * is reported.
 */
export function createRig<Clock extends ManualClock>(
  t: TestContext,
  serviceCodes: readonly string[] = ['A'],
  { clock: givenClock, restored = [], ...settings }: RigOptions<Clock> = {},
) {
  const clock = givenClock ?? new ManualClock(START_MS);
  const client = new ManualClient(clock);
  const store = new Store();
  const { logger, lines } = createRecordingLogger();
  const poller = new Poller({
    codes: serviceCodes.map((serviceCode) => createPolledCode(serviceCode, settings)),
    tallySettings: { maxLabelSets: 100, maxStreamRate: 12.5e6, perTask: false, maxTasks: 10 },
    persistence: {
      tallies: new Map(restored.map((tally) => [tally.serviceCode, tally])),
      restore: () => Promise.resolve(undefined),
      write: () => Promise.resolve(),
    },
    client,
    readers: getReaderPool(),
    store,
    pollDurations: new Histogram([]),
    clock,
    logger,
  });
  const internalErrors: unknown[] = [];
  t.after(async () => {
    await poller[Symbol.asyncDispose]();
    await nextTurn();
    assert.equal(clock.sleeperCount, 0);
    assert.deepEqual(internalErrors, []);
  });
  return {
    clock,
    client,
    store,
    poller,
    lines,
    /** Starts the polls; those that are due are requested. */
    start: async (): Promise<void> => {
      poller.start().catch((error: unknown) => internalErrors.push(error));
      await advanceClock(clock, 0);
    },
    /** Polls every code once; `complete` completes the last request. */
    pollOnce: async (complete: (request: ManualClient['latest']) => Promise<void>): Promise<void> => {
      const polled = poller.pollOnce(new AbortController().signal);
      await nextTurn();
      await complete(client.latest);
      await polled;
    },
    getState: (serviceCode = 'A'): CodeState => {
      const state = store.get(serviceCode);
      assert.ok(state !== undefined);
      return state;
    },
    /** When polls were requested, in milliseconds since the start. */
    getRequestTimesMs: (): readonly number[] => client.requestTimesMs.map((atMs) => atMs - START_MS),
    /** Sums a counter of the exporter over its label sets; `undefined` if the code has no series of it. */
    count: (key: 'polls' | 'pollsSkipped' | 'pollErrors', serviceCode = 'A'): number | undefined => {
      const states = [store.get(serviceCode) ?? []].flat();
      const families = [...store.collectFamilies(readInstant(clock), states)];
      const samples = families.find(({ spec }) => spec === CATALOGUE[key])?.samples;
      const numbers = samples !== undefined && 'numbers' in samples ? samples.numbers : [];
      return numbers.length === 0 ? undefined : sumColumn(numbers);
    },
    getInputBytes: (serviceCode = 'A'): number | undefined => {
      const snapshot = store.get(serviceCode)?.snapshot;
      return snapshot && sumValues(readValues(snapshot, 'inputBytes'));
    },
  };
}
