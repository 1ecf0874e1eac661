import type { Clock } from '../clock.ts';
import type { Selection } from '../metrics/selection.ts';
import type { Drive } from './poller.ts';
import { scrapeWaitMs } from './scrape-wait.ts';
import { SharedPolls } from './shared-polls.ts';
import { Turnstiles } from './turnstiles.ts';

/** A scrape, as far as it decides what is polled. */
export interface Scrape {
  /** What it asks for; everything, if not given. */
  readonly selection?: Selection;
  /** How long whoever scrapes is going to wait, where that is known. */
  readonly timeoutMs?: number | undefined;
  /** Aborts when nobody waits any more. */
  readonly signal?: AbortSignal | undefined;
}

/** What can change while the exporter runs. */
export interface ScrapeLimits {
  /** What was polled less long ago is not polled again. */
  readonly minAgeMs: number;
  /** Of one address, at the same time: as many as there are connections, so that none waits for one in vain. */
  readonly maxPolls: number;
}

/** Polls service codes when they are scraped, and never otherwise. */
export class ScrapeDrivenPolls {
  readonly #clock: Clock;
  readonly #polls = new Map<string, SharedPolls>();
  readonly #turnstiles: Turnstiles;
  #minAgeMs: number;

  constructor(clock: Clock, { minAgeMs, maxPolls }: ScrapeLimits) {
    this.#clock = clock;
    this.#minAgeMs = minAgeMs;
    this.#turnstiles = new Turnstiles(maxPolls);
  }

  configure({ minAgeMs, maxPolls }: ScrapeLimits): void {
    this.#minAgeMs = minAgeMs;
    this.#turnstiles.limit = maxPolls;
  }

  /** Has a service code polled by scrapes from now on, the first of them at once. */
  readonly drive: Drive = (poller, _delayMs, failed) => {
    const { serviceCode } = poller.code.target;
    const polls = new SharedPolls({ poller, turnstiles: this.#turnstiles, clock: this.#clock, failed });
    this.#polls.set(serviceCode, polls);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#polls.delete(serviceCode);
        await polls[Symbol.asyncDispose]();
      },
    };
  };

  /**
   * Polls what is too old of what a scrape asks for, and resolves when that is over or the scrape cannot wait any
   * longer; then polls go on, and the next scrape shares them. Rejects with the signal's reason when that aborts.
   */
  async refresh({ selection = 'everything', timeoutMs, signal }: Scrape): Promise<void> {
    const asked = this.#pollsOf(selection);
    const running = asked.flatMap((polls) => polls.pollIfOlder(this.#minAgeMs) ?? []);
    if (running.length > 0) {
      const longestPollMs = asked.reduce((longest, polls) => Math.max(longest, polls.timeoutMs), 0);
      await this.#atMost(scrapeWaitMs(timeoutMs, longestPollMs), Promise.all(running), signal);
    }
    signal?.throwIfAborted();
  }

  #pollsOf(selection: Selection): readonly SharedPolls[] {
    if (selection === 'exporter') return [];
    if (typeof selection === 'string') return [...this.#polls.values()];
    return [...selection].flatMap((serviceCode) => this.#polls.get(serviceCode) ?? []);
  }

  /** Waits for polls, but not beyond a time or the signal's abort. */
  async #atMost(ms: number, polls: Promise<unknown>, signal: AbortSignal | undefined): Promise<void> {
    const ending = new AbortController();
    const end = (): void => ending.abort();
    signal?.addEventListener('abort', end, { once: true });
    if (signal?.aborted === true) end();
    const patience = this.#clock.sleep(ms, ending.signal).then(
      () => undefined,
      () => undefined,
    );
    await Promise.race([polls, patience]);
    signal?.removeEventListener('abort', end);
    end();
  }
}
