import type { Clock } from '../clock.ts';
import { RecordReaders } from '../listing/record-readers.ts';
import type { Logger } from '../log.ts';
import type { SelfMetrics } from '../metrics/self.ts';
import { Tally, type TallyOptions } from '../tally/tally.ts';
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

/** What all tallies have in common. */
type TallySettings = Pick<TallyOptions, 'maxLabelSets' | 'perTask' | 'maxTasks'>;

export interface PollerOptions {
  readonly codes: readonly PolledCode[];
  readonly metrics: TallySettings;
  /** Tallies that go on from an earlier process, by service code; all others begin anew. */
  readonly restored?: ReadonlyMap<string, Tally>;
  readonly client: Pick<UpstreamClient, 'requestListing'>;
  readonly store: Store;
  readonly self: SelfMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A tally for a service code, as its polls fill it. */
export function newTally({ target, stallAfterMs }: PolledCode, settings: TallySettings): Tally {
  return new Tally({ ...settings, serviceCode: target.serviceCode, stallAfterMs });
}

/** Polls all service codes, each on its own, until it is disposed of. */
export class Poller implements AsyncDisposable {
  readonly #options: PollerOptions;
  readonly #pollers: readonly ServiceCodePoller[];
  /** Of each what ends it: one signal for all would have a list of listeners that each poll goes through. */
  readonly #stops: AbortController[] = [];
  readonly #records = new RecordReaders();
  /** Each goes on once: a service code that leaves and comes back begins anew. */
  readonly #restored: Map<string, Tally>;
  #loops: readonly Promise<never>[] = [];

  constructor(options: PollerOptions) {
    this.#options = options;
    this.#restored = new Map(options.restored);
    this.#pollers = options.codes.map((code) => this.#pollerFor(code));
  }

  /** Whether the first poll of every service code is over, however it went. */
  get isFirstRoundOver(): boolean {
    return this.#options.store.states.every(({ isUp }) => isUp !== undefined);
  }

  /** The tally of every service code that is polled, as they are now. */
  get tallies(): readonly Tally[] {
    return this.#pollers.map(({ tally }) => tally);
  }

  /** Polls every service code once, all at a time. Rejects with the signal's reason when it aborts. */
  async pollOnce(signal: AbortSignal): Promise<void> {
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

  #pollerFor(code: PolledCode): ServiceCodePoller {
    const { client, store, self, clock, logger, metrics } = this.#options;
    const { target, intervalMs, staleAfterMs } = code;
    const { serviceCode } = target;
    const tally = this.#restored.get(serviceCode) ?? newTally(code, metrics);
    this.#restored.delete(serviceCode);
    return new ServiceCodePoller({
      target,
      intervalMs,
      staleAfterMs,
      client,
      records: this.#records,
      store,
      clock,
      tally,
      metrics: self.track(serviceCode, intervalMs),
      changes: new PollChanges(logger.child({ service_code: serviceCode })),
    });
  }
}
