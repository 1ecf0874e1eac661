import type { Clock } from '../runtime/clock.ts';
import { linkAbort } from '../runtime/abort.ts';
import type { PollTrigger } from './poller.ts';
import { KeyedSemaphore, SharedPolls } from './shared-polls.ts';

/** Part of the scrape timeout that is left for rendering and sending the response, as in blackbox_exporter. */
const SCRAPE_MARGIN_MS = 500;

/** The web server closes connections that are idle for 60 s. */
const MAX_SCRAPE_WAIT_MS = 50_000;

/** The properties of a scrape that decide which polls it triggers. */
export interface ScrapeRequest {
  /** Default: every service code. */
  readonly serviceCode?: string | undefined;
  /** Scrape timeout of the client, if known. */
  readonly timeoutMs?: number | undefined;
  /** Aborts when the client disconnects. */
  readonly signal?: AbortSignal | undefined;
}

/** Limits that a reload can change. */
export interface ScrapeLimits {
  /** Minimum time between the starts of two polls of a service code. */
  readonly minAgeMs: number;
  /** Concurrent polls for each origin: the number of connections, so that no poll waits for a connection. */
  readonly maxConcurrentPolls: number;
}

/** Polls service codes when they are scraped, and only then. */
export class ScrapeTrigger {
  readonly #clock: Clock;
  readonly #pollsByCode = new Map<string, SharedPolls>();
  readonly #semaphore: KeyedSemaphore;
  #minAgeMs: number;

  constructor(clock: Clock, { minAgeMs, maxConcurrentPolls }: ScrapeLimits) {
    this.#clock = clock;
    this.#minAgeMs = minAgeMs;
    this.#semaphore = new KeyedSemaphore(maxConcurrentPolls);
  }

  configure({ minAgeMs, maxConcurrentPolls }: ScrapeLimits): void {
    this.#minAgeMs = minAgeMs;
    this.#semaphore.limit = maxConcurrentPolls;
  }

  /** Makes a service code available to scrapes; the delay of periodic polling does not apply. */
  readonly attach: PollTrigger = (poller, _firstDelayMs, onInternalError) => {
    const { serviceCode } = poller.code.target;
    const polls = new SharedPolls({
      poller,
      semaphore: this.#semaphore,
      clock: this.#clock,
      onInternalError,
    });
    this.#pollsByCode.set(serviceCode, polls);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#pollsByCode.delete(serviceCode);
        await polls[Symbol.asyncDispose]();
      },
    };
  };

  /**
   * Polls the selected service codes whose last poll is too old. Resolves when these polls have ended or the scrape must
   * be answered; unfinished polls continue, and the next scrape shares them. Rejects with the signal's reason when it aborts.
   */
  async refresh({ serviceCode, timeoutMs, signal }: ScrapeRequest): Promise<void> {
    const selected = this.#selectPolls(serviceCode);
    const running = selected.flatMap((polls) => polls.pollIfOlder(this.#minAgeMs) ?? []);
    if (running.length > 0) {
      const longestPollMs = selected.reduce((longest, polls) => Math.max(longest, polls.timeoutMs), 0);
      using abort = linkAbort(signal);
      const timeout = this.#clock.sleep(computeScrapeWaitMs(timeoutMs, longestPollMs), abort.signal);
      // An abort is reported below, with the signal's reason.
      await Promise.race([Promise.all(running), timeout.catch(() => undefined)]);
    }
    signal?.throwIfAborted();
  }

  #selectPolls(serviceCode: string | undefined): readonly SharedPolls[] {
    if (serviceCode === undefined) return [...this.#pollsByCode.values()];
    const polls = this.#pollsByCode.get(serviceCode);
    return polls === undefined ? [] : [polls];
  }
}

/**
 * Computes how long a scrape waits for its polls: its timeout minus the margin, but at least half of the timeout. Without
 * a timeout, as long as the longest of the polls may take.
 */
export function computeScrapeWaitMs(timeoutMs: number | undefined, longestPollMs: number): number {
  const waitMs =
    timeoutMs === undefined ? longestPollMs : Math.max(timeoutMs - SCRAPE_MARGIN_MS, timeoutMs / 2);
  return Math.min(waitMs, MAX_SCRAPE_WAIT_MS);
}
