import { getReaderPool } from '../../support/read-listing.ts';
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ExporterMetrics } from '../../../src/metrics/exposition/exporter-metrics.ts';
import type { PolledCode } from '../../../src/poller/polled-code.ts';
import { Poller, type PollTrigger } from '../../../src/poller/poller.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { START_MS } from '../../support/tally-run.ts';
import { ScrapedStore } from '../../support/scraped-store.ts';
import { ManualClient, TARGET } from '../../support/manual-client.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';

export const INTERVAL_MS = 15_000;

/** One for all tests of a file: see `ExporterMetrics`. */
const exporterMetrics = new ExporterMetrics({
  clock: new ManualClock(START_MS),
  version: '0',
  revision: '0',
  nodeVersion: '0',
});
after(() => exporterMetrics[Symbol.dispose]());

export function createPolledCode(serviceCode: string, more: Partial<PolledCode> = {}): PolledCode {
  const intervals = { intervalMs: INTERVAL_MS, streamIntervalMs: INTERVAL_MS };
  const times = { ...intervals, staleAfterMs: 45_000, stallAfterMs: 60_000 };
  return { target: { ...TARGET, serviceCode }, ...times, ...more };
}

/** Creates a poller whose requests the test completes. The test fails if a timer remains or an internal error is reported. */
export function createPollerHarness(
  t: TestContext,
  serviceCodes: readonly string[],
  clock = new ManualClock(START_MS),
  trigger?: PollTrigger,
) {
  const client = new ManualClient(clock);
  const store = new ScrapedStore();
  const { logger, lines } = createRecordingLogger();
  const codes = serviceCodes.map((serviceCode) => createPolledCode(serviceCode));
  const tallySettings = { maxLabelSets: 100, perTask: false, maxTasks: 10 };
  const poller = new Poller({
    codes,
    tallySettings,
    client,
    readers: getReaderPool(),
    store,
    exporterMetrics,
    clock,
    logger,
    trigger,
  });
  const internalErrors: unknown[] = [];
  const start = (): void => {
    poller.start().catch((error: unknown) => internalErrors.push(error));
  };
  t.after(async () => {
    await poller[Symbol.asyncDispose]();
    await nextTurn();
    assert.equal(clock.sleeperCount, 0);
    assert.deepEqual(internalErrors, []);
    for (const { serviceCode } of store.states) exporterMetrics.untrack(serviceCode);
  });
  return { clock, client, store, exporterMetrics, poller, start, lines };
}

/** A clock whose aborted sleeps reject only after `openGate`. */
export class GatedClock extends ManualClock {
  openGate: () => void = () => undefined;
  readonly #gate = new Promise<void>((resolve) => {
    this.openGate = resolve;
  });

  override async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    try {
      await super.sleep(ms, signal);
    } catch (error) {
      await this.#gate;
      throw error;
    }
  }
}
