import { setMaxListeners } from 'node:events';
import type { Clock } from '../clock.ts';
import { RecordReaders } from '../listing/record-readers.ts';
import type { Logger } from '../log.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import { Tally } from '../tally/tally.ts';
import type { ListingTarget, UpstreamClient } from '../upstream/client.ts';
import { PollChanges } from './changes.ts';
import { firstDelayMs } from './schedule.ts';
import { ServiceCodePoller } from './service-code-poller.ts';
import type { Store } from './store.ts';

/** A service code to poll. Times in milliseconds. */
export interface PolledCode {
  readonly target: ListingTarget;
  readonly intervalMs: number;
  readonly staleAfterMs: number;
  readonly stallAfterMs: number;
}

export interface PollerOptions {
  readonly codes: readonly PolledCode[];
  readonly metrics: { readonly maxLabelSets: number; readonly perTask: boolean; readonly maxTasks: number };
  readonly client: Pick<UpstreamClient, 'requestListing'>;
  readonly store: Store;
  readonly self: SelfMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Polls all service codes, each on its own, until it is disposed of. */
export class Poller implements AsyncDisposable {
  readonly #options: PollerOptions;
  readonly #pollers: readonly ServiceCodePoller[];
  /** Of each what ends it: one signal for all would have a list of listeners that each poll goes through. */
  readonly #stops: AbortController[] = [];
  readonly #records = new RecordReaders();
  #loops: readonly Promise<never>[] = [];

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#pollers = options.codes.map((code) => this.#pollerFor(code));
  }

  /** Whether the first poll of every service code is over, however it went. */
  get isFirstRoundOver(): boolean {
    return this.#options.store.states.every(({ isUp }) => isUp !== undefined);
  }

  /** Polls every service code once, all at a time. Rejects with the signal's reason when it aborts. */
  async pollOnce(signal: AbortSignal): Promise<void> {
    // Each poll listens on it until it is over: more than ten are no leak, of which Node would warn.
    setMaxListeners(0, signal);
    await Promise.all(this.#pollers.map((poller) => poller.poll(signal)));
  }

  /**
   * Begins to poll, the first polls spread over the interval. What it returns settles only when something is
   * wrong with the program: it rejects with what was thrown.
   */
  start(): Promise<never> {
    const { codes } = this.#options;
    this.#loops = this.#pollers.map((poller, index) => {
      const delayMs = firstDelayMs(index, codes.length, codes[index]?.intervalMs ?? 0);
      const stop = new AbortController();
      this.#stops.push(stop);
      return poller.run(delayMs, stop.signal);
    });
    return Promise.race(this.#loops);
  }

  /** Aborts what is under way and waits until no poll runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const stop of this.#stops) stop.abort();
    await Promise.allSettled(this.#loops);
  }

  #pollerFor({ target, intervalMs, staleAfterMs, stallAfterMs }: PolledCode): ServiceCodePoller {
    const { client, store, self, clock, logger, metrics } = this.#options;
    const { serviceCode } = target;
    return new ServiceCodePoller({
      target,
      intervalMs,
      staleAfterMs,
      client,
      records: this.#records,
      store,
      clock,
      tally: new Tally({ serviceCode, stallAfterMs, ...metrics }),
      metrics: self.track(serviceCode, intervalMs),
      changes: new PollChanges(logger.child({ service_code: serviceCode })),
    });
  }
}
