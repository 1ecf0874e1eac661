import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { SelfMetrics } from '../../src/metrics/self.ts';
import type { PolledCode } from '../../src/poller/polled-code.ts';
import { Poller, type Drive } from '../../src/poller/poller.ts';
import { Store } from '../../src/poller/store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { START_MS } from '../support/tally-run.ts';
import { HeldClient, recordedLog, TARGET } from './polling.ts';

export const INTERVAL_MS = 15_000;

/** One for all tests of a file: see `SelfMetrics`. */
const self = new SelfMetrics({
  clock: new ManualClock(START_MS),
  version: '0',
  revision: '0',
  nodeVersion: '0',
});
after(() => self[Symbol.dispose]());

export function codeFor(serviceCode: string, more: Partial<PolledCode> = {}): PolledCode {
  const times = { intervalMs: INTERVAL_MS, staleAfterMs: 45_000, stallAfterMs: 60_000 };
  return { target: { ...TARGET, serviceCode }, ...times, ...more };
}

/** A poller whose requests the test answers; the test fails if it leaves a timer, or reports a mistake. */
export function setUp(
  t: TestContext,
  serviceCodes: readonly string[],
  clock = new ManualClock(START_MS),
  drive?: Drive,
) {
  const client = new HeldClient(clock);
  const store = new Store();
  const { logger, lines } = recordedLog();
  const codes = serviceCodes.map((serviceCode) => codeFor(serviceCode));
  const metrics = { maxLabelSets: 100, perTask: false, maxTasks: 10 };
  const poller = new Poller({ codes, metrics, client, store, self, clock, logger, drive });
  const mistakes: unknown[] = [];
  const start = (): void => {
    poller.start().catch((error: unknown) => mistakes.push(error));
  };
  t.after(async () => {
    await poller[Symbol.asyncDispose]();
    await nextTurn();
    assert.equal(clock.sleepers, 0);
    assert.deepEqual(mistakes, []);
    for (const { serviceCode } of store.states) self.untrack(serviceCode);
  });
  return { clock, client, store, self, poller, start, lines };
}

/** A clock whose sleepers, when they are to end, do so only once they are let go. */
export class LingeringClock extends ManualClock {
  letGo: () => void = () => undefined;
  readonly #gate = new Promise<void>((resolve) => {
    this.letGo = resolve;
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
