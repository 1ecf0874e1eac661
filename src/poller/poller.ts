import { setMaxListeners } from 'node:events';
import { LRUCache } from 'lru-cache';
import { FirstFailure } from '../runtime/background-task.ts';
import type { Logger } from '../runtime/logger.ts';
import { mapYielding } from '../runtime/map-yielding.ts';
import { Tally, type TallyOptions } from '../tally/tally.ts';
import { PollLogger } from './poll-logger.ts';
import { diffCodes, type CodeDiff, type PolledCode } from './polled-code.ts';
import { computeFirstDelays, computeReloadDelays } from './schedule.ts';
import {
  ServiceCodePoller,
  type PollPlan,
  type ServiceCodePollerOptions,
  type StateWriter,
} from './service-code-poller.ts';

/** Those of base URLs: reloads may bring new ones without end. */
const MAX_GOOD_ADDRESSES = 10_000;

const HEALTH_CHECK_INTERVAL_MS = 5000;

/** Few enough that scrapes and polls do not wait noticeably. */
const CODES_PER_TURN = 20;

type TallySettings = Omit<TallyOptions, 'serviceCode' | 'stallAfterMs' | 'pollIntervalMs'>;

interface TallyPersistence extends StateWriter {
  readonly tallies: ReadonlyMap<string, Tally>;
  /** Restores the tally of an added service code; `undefined` if there is no state of it. */
  restore(serviceCode: string, createTally: () => Tally): Promise<Tally | undefined>;
}

export interface PollerOptions extends Pick<
  ServiceCodePollerOptions,
  'client' | 'readers' | 'store' | 'clock' | 'pollDurations'
> {
  readonly codes: readonly PolledCode[];
  readonly tallySettings: TallySettings;
  readonly persistence?: TallyPersistence | undefined;
  readonly logger: Logger;
}

export function createTally(
  { serviceCode, stallAfterMs, intervalMs }: PolledCode,
  settings: TallySettings,
): Tally {
  return new Tally({ ...settings, serviceCode, stallAfterMs, pollIntervalMs: intervalMs });
}

/** Polls all service codes, independently of each other, until it is disposed of. */
export class Poller implements AsyncDisposable {
  readonly #options: PollerOptions;
  readonly #pollers = new Map<string, ServiceCodePoller>();
  readonly #failure = new FirstFailure();
  readonly #goodAddresses = new LRUCache<string, true>({ max: MAX_GOOD_ADDRESSES });
  #isRunning = false;
  #wasHealthy = true;
  #hasFirstRoundEnded = false;

  constructor(options: PollerOptions) {
    this.#options = options;
    for (const code of options.codes) this.#add(code, options.persistence?.tallies.get(code.serviceCode));
  }

  /** Notes whether the first poll of every service code has ended. Stays true when codes are added later. */
  updateReadiness(): boolean {
    this.#hasFirstRoundEnded ||= this.#options.store.states.every(({ lastPoll }) => lastPoll !== undefined);
    return this.#hasFirstRoundEnded;
  }

  /** Notes whether no poll loop is stuck, regardless of the outcome of polls, and logs each change once. */
  updateHealth(): boolean {
    const { clock, logger } = this.#options;
    const nowMs = clock.monotonic();
    const stuckCodes = [...this.#pollers].flatMap(([code, poller]) => (poller.isStuck(nowMs) ? code : []));
    const isHealthy = stuckCodes.length === 0;
    if (this.#wasHealthy && !isHealthy)
      logger.error({ service_codes: stuckCodes }, 'Poll loop is stuck; reporting unhealthy');
    if (!this.#wasHealthy && isHealthy) logger.info('Poll loop recovered; reporting healthy');
    this.#wasHealthy = isHealthy;
    return isHealthy;
  }

  /** Updates the health every 5 seconds until the signal aborts; rejects with its reason. */
  async watchHealth(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#options.clock.sleep(HEALTH_CHECK_INTERVAL_MS, signal);
      this.updateHealth();
    }
  }

  /** Where and when a service code is polled; `undefined` if it is not. `nowMs` is monotonic. */
  getPlan(serviceCode: string, nowMs: number): PollPlan | undefined {
    return this.#pollers.get(serviceCode)?.getPlan(nowMs);
  }

  get tallies(): readonly Tally[] {
    return [...this.#pollers.values()].map(({ tally }) => tally);
  }

  /** Polls every service code once, concurrently. Rejects with the signal's reason when it aborts. */
  async pollOnce(signal: AbortSignal): Promise<void> {
    // Every poll adds a listener until it ends; with more than ten, Node would warn of a leak.
    setMaxListeners(0, signal);
    await Promise.all([...this.#pollers.values()].map((poller) => poller.poll(signal)));
  }

  /**
   * Starts polling, the first polls spread over the interval, at most a minute. Rejects with the first
   * internal error.
   */
  start(): Promise<never> {
    this.#isRunning = true;
    this.#startAll([...this.#pollers.values()], computeFirstDelays);
    return this.#failure.promise;
  }

  /** A code that stays keeps its counters, and a running poll if its settings are the same. */
  async apply(codes: readonly PolledCode[]): Promise<CodeDiff> {
    this.updateReadiness();
    const { persistence, tallySettings, store } = this.#options;
    const before = [...this.#pollers.values()].map(({ code }) => code);
    const diff = diffCodes(before, codes);
    const { added, changed, kept, removed } = diff;
    const removedPollers = removed.map((code) => this.#getPoller(code));
    const changedPollers = changed.map((code) => this.#getPoller(code));
    // Removed codes are unknown to scrapes at once, although their series stay until their polls have ended.
    for (const { serviceCode } of removed) this.#pollers.delete(serviceCode);
    await Promise.all([...removedPollers, ...changedPollers].map((poller) => poller.stop()));
    for (const { tally } of removedPollers) {
      tallySettings.accountBudget?.remove(tally.accountShare);
      store.remove(tally.serviceCode);
    }
    for (const code of [...kept, ...changed]) this.#getPoller(code).configure(code);
    const restored = await Promise.all(
      added.map(
        async (code) => await persistence?.restore(code.serviceCode, () => createTally(code, tallySettings)),
      ),
    );
    const addedPollers = await mapYielding(
      [...added.entries()],
      ([index, code]) => this.#add(code, restored[index]),
      CODES_PER_TURN,
    );
    if (this.#isRunning) this.#startAll([...changedPollers, ...addedPollers], computeReloadDelays);
    return diff;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isRunning = false;
    await Promise.all([...this.#pollers.values()].map((poller) => poller.stop()));
  }

  /** Whether a service code is polled. One that is being removed is not, even if it has series. */
  has(serviceCode: string): boolean {
    return this.#pollers.has(serviceCode);
  }

  #startAll(pollers: readonly ServiceCodePoller[], computeDelays: typeof computeFirstDelays): void {
    for (const [index, poller] of pollers.entries())
      poller.start(computeDelays(index, pollers.length, poller.code.intervalMs), this.#failure.report);
  }

  #add(code: PolledCode, restored: Tally | undefined): ServiceCodePoller {
    const { tallySettings, logger } = this.#options;
    const { serviceCode } = code;
    const tally = restored ?? createTally(code, tallySettings);
    tallySettings.accountBudget?.add(tally.accountShare);
    const poller = new ServiceCodePoller({
      ...this.#options,
      code,
      tally,
      goodAddresses: this.#goodAddresses,
      pollLogger: new PollLogger(logger.child({ service_code: serviceCode })),
    });
    this.#pollers.set(serviceCode, poller);
    return poller;
  }

  #getPoller({ serviceCode }: PolledCode): ServiceCodePoller {
    const poller = this.#pollers.get(serviceCode);
    if (poller === undefined) throw new TypeError(`Expected ${serviceCode} to be polled`);
    return poller;
  }
}
