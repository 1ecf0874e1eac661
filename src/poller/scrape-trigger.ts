import PQueue from 'p-queue';
import type { Clock } from '../runtime/clock.ts';
import { linkAbort } from '../runtime/abort.ts';
import type { PollTrigger } from './poller.ts';
import type { ServiceCodePoller } from './service-code-poller.ts';

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

/** A service code that scrapes poll, one poll at a time, which all scrapes share while it is queued or runs. */
interface ScrapedCode {
  readonly poller: ServiceCodePoller;
  readonly abort: AbortController;
  readonly onInternalError: (error: unknown) => void;
  /** Monotonic start of the last poll, also of one skipped because the service asked for a pause. */
  startedMs: number;
  currentPoll: Promise<void> | undefined;
}

/** Polls service codes when they are scraped, and only then. */
export class ScrapeTrigger {
  readonly #clock: Clock;
  readonly #codes = new Map<string, ScrapedCode>();
  readonly #queuesByOrigin = new Map<string, PQueue>();
  #limits: ScrapeLimits;

  constructor(clock: Clock, limits: ScrapeLimits) {
    this.#clock = clock;
    this.#limits = limits;
  }

  /** Sets limits, effective immediately; running polls are not stopped. */
  configure(limits: ScrapeLimits): void {
    this.#limits = limits;
    for (const queue of this.#queuesByOrigin.values()) queue.concurrency = limits.maxConcurrentPolls;
  }

  /** Makes a service code available to scrapes; the delay of periodic polling does not apply. */
  readonly attach: PollTrigger = (poller, _firstDelayMs, onInternalError) => {
    const { serviceCode } = poller.code;
    const code: ScrapedCode = {
      poller,
      abort: new AbortController(),
      onInternalError,
      startedMs: Number.NEGATIVE_INFINITY,
      currentPoll: undefined,
    };
    this.#codes.set(serviceCode, code);
    return {
      [Symbol.asyncDispose]: async () => {
        this.#codes.delete(serviceCode);
        code.abort.abort();
        await code.currentPoll;
      },
    };
  };

  /**
   * Polls the selected service codes whose last poll is too old. Resolves when these polls have ended or the scrape must
   * be answered; unfinished polls continue, and the next scrape shares them. Rejects with the signal's reason when it aborts.
   */
  async refresh({ serviceCode, timeoutMs, signal }: ScrapeRequest): Promise<void> {
    const codes = [...this.#codes.values()];
    const selected =
      serviceCode === undefined
        ? codes
        : codes.filter(({ poller }) => poller.code.serviceCode === serviceCode);
    const running = selected.flatMap((code) => this.#pollIfOlder(code) ?? []);
    if (running.length > 0) {
      const longestPollMs = Math.max(...selected.map(({ poller }) => poller.code.timeoutMs));
      using abort = linkAbort(signal);
      const timeout = this.#clock.sleep(computeScrapeWaitMs(timeoutMs, longestPollMs), abort.signal);
      // An abort is reported below, with the signal's reason.
      await Promise.race([Promise.all(running), timeout.catch(() => undefined)]);
    }
    signal?.throwIfAborted();
  }

  /** Returns the current poll; without one, starts a poll if the last one started long enough ago. */
  #pollIfOlder(code: ScrapedCode): Promise<void> | undefined {
    const ageMs = this.#clock.monotonic() - code.startedMs;
    if (ageMs >= this.#limits.minAgeMs) {
      code.currentPoll ??= this.#poll(code).finally(() => {
        code.currentPoll = undefined;
      });
    }
    return code.currentPoll;
  }

  /** Polls as soon as the origin has a free slot. */
  async #poll(code: ScrapedCode): Promise<void> {
    const { poller, onInternalError } = code;
    const { signal } = code.abort;
    let running: Promise<void> | undefined;
    const start = (): Promise<void> => {
      code.startedMs = this.#clock.monotonic();
      running = poller.pollUnlessPaused(signal);
      return running;
    };
    try {
      await this.#getQueue(new URL(poller.code.baseUrl).origin).add(start, { signal });
    } catch (error) {
      if (error !== signal.reason) onInternalError(error);
    }
    // On abort, p-queue rejects before the poll has ended.
    await Promise.allSettled([running]);
  }

  #getQueue(origin: string): PQueue {
    const existing = this.#queuesByOrigin.get(origin);
    if (existing !== undefined) return existing;
    const queue = new PQueue({ concurrency: this.#limits.maxConcurrentPolls });
    queue.once('idle', () => this.#queuesByOrigin.delete(origin));
    this.#queuesByOrigin.set(origin, queue);
    return queue;
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
