import type { Clock } from '../clock.ts';
import type { RecordReaders } from '../listing/record-readers.ts';
import type { PollMetrics } from '../metrics/code-metrics.ts';
import type { Instant } from '../tally/instant.ts';
import type { ListingTally } from '../tally/listing-tally.ts';
import type { Tally } from '../tally/tally.ts';
import type { Worksheets } from '../tally/worksheet.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { PollChanges } from './changes.ts';
import { fetchListing, type FailedListing, type GoodListing } from './fetch-listing.ts';
import { figuresOf } from './figures.ts';
import { PollHistory } from './poll-history.ts';
import type { PolledCode } from './polled-code.ts';
import { nextPoll, pausedUntilMs, standsStill } from './schedule.ts';
import { unpolled, type CodeState, type Store } from './store.ts';

/** How much longer than its deadline a poll may take before it is given up as hung. */
const HUNG_AFTER_MS = 5000;

/** Why what a poll began is to end with it. One for all: an error with its stack costs more than all else of an abort. */
const POLL_IS_OVER = new Error('The poll is over');

export interface ServiceCodePollerOptions {
  readonly code: PolledCode;
  readonly client: Pick<UpstreamClient, 'requestListing'>;
  readonly records: RecordReaders;
  readonly worksheets: Worksheets;
  readonly tally: Tally;
  readonly store: Store;
  readonly metrics: PollMetrics;
  readonly changes: PollChanges;
  readonly clock: Clock;
  readonly watchListing?: WatchListing | undefined;
}

/** Is given each listing when reading it begins: it fills as it is read. */
export type WatchListing = (listing: Pick<ListingTally, 'users' | 'tasks'>) => void;

/** Polls one service code, one poll at a time: on a grid of its own, or when it is told to. */
export class ServiceCodePoller {
  readonly #options: ServiceCodePollerOptions;
  readonly #history = new PollHistory();
  #code: PolledCode;
  /** The service asked to be left alone until then; monotonic milliseconds. */
  #pausedUntilMs = 0;
  /** When the loop is due to wake, or when what is under way began; `undefined` while nothing is to be expected. */
  #turnMs: number | undefined;

  constructor(options: ServiceCodePollerOptions) {
    this.#options = options;
    this.#code = options.code;
    const { target, staleAfterMs } = options.code;
    options.store.publish(unpolled(target.serviceCode, staleAfterMs, this.#history));
  }

  get code(): PolledCode {
    return this.#code;
  }

  /** Takes other settings of the same service code; only while neither loop nor poll runs. */
  configure(code: PolledCode): void {
    // What another address asks for is not known yet.
    if (code.target.baseUrl !== this.#code.target.baseUrl) this.#pausedUntilMs = 0;
    this.#code = code;
    this.#options.tally.stallAfterMs = code.stallAfterMs;
    this.#publish({});
  }

  /** Whether the loop, or a poll that somebody asked for, should have gone on long ago; `nowMs` is monotonic. */
  standsStill(nowMs: number): boolean {
    const mayTakeMs = this.#code.target.timeoutMs + HUNG_AFTER_MS;
    return this.#turnMs !== undefined && standsStill(this.#turnMs, mayTakeMs, nowMs);
  }

  /** What the good listings add up to. */
  get tally(): Tally {
    return this.#options.tally;
  }

  /** Polls until the signal aborts, and then rejects with its reason. */
  async run(firstDelayMs: number, signal: AbortSignal): Promise<never> {
    const { clock } = this.#options;
    try {
      for (let dueMs = clock.monotonic() + firstDelayMs; ; dueMs = this.#nextDueMs(dueMs)) {
        this.#turnMs = dueMs;
        await clock.sleep(dueMs - clock.monotonic(), signal);
        await this.turn(signal);
      }
    } finally {
      this.#turnMs = undefined;
    }
  }

  /** Polls once, unless the service has asked for a pause. Rejects as `poll` does. */
  async turn(signal: AbortSignal): Promise<void> {
    const { clock, metrics } = this.#options;
    this.#turnMs = clock.monotonic();
    try {
      if (this.#turnMs < this.#pausedUntilMs) metrics.skipped('retry_after');
      else await this.poll(signal);
    } finally {
      this.#turnMs = undefined;
    }
  }

  /** Polls once. Rejects only with the signal's reason, or for a mistake of the program. */
  async poll(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { clock, metrics, tally, worksheets } = this.#options;
    const startedMs = clock.monotonic();
    const listing = tally.begin(worksheets);
    this.#options.watchListing?.(listing);
    metrics.started();
    const fetched = await this.#fetch(listing, signal);
    if (fetched.bytes !== undefined) metrics.responseBytes(fetched.bytes);
    if (fetched.error === undefined) this.#commit(listing, fetched, startedMs);
    else this.#fail(fetched, startedMs);
  }

  #nextDueMs(lastDueMs: number): number {
    const { clock, metrics } = this.#options;
    const { dueMs, overlapped } = nextPoll(lastDueMs, this.#code.intervalMs, clock.monotonic());
    for (let missed = 0; missed < overlapped; missed += 1) metrics.skipped('overlap');
    return dueMs;
  }

  /** The client keeps its own deadline; should it ever fail to, the poll is given up here. */
  async #fetch(listing: ListingTally, signal: AbortSignal): Promise<GoodListing | FailedListing> {
    const { client, records, clock } = this.#options;
    const { target } = this.#code;
    const ending = new AbortController();
    const end = (): void => ending.abort(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    try {
      return await Promise.race([
        fetchListing(client, target, listing, records, ending.signal),
        this.#watch(clock.sleep(target.timeoutMs + HUNG_AFTER_MS, ending.signal)),
      ]);
    } finally {
      signal.removeEventListener('abort', end);
      ending.abort(POLL_IS_OVER);
    }
  }

  async #watch(patience: Promise<void>): Promise<FailedListing> {
    await patience;
    const error = new UpstreamError('timeout', 'Expected the poll to end by its deadline, found it hung');
    return { error, ret: undefined, bytes: undefined };
  }

  #commit(listing: ListingTally, { ret }: GoodListing, startedMs: number): void {
    const { tally, worksheets, metrics, changes, clock } = this.#options;
    const snapshot = tally.commit(listing, this.#now());
    worksheets.giveBack(listing.sheet);
    const { wallMs } = snapshot.at;
    this.#publish({
      isUp: true,
      ret,
      lastPollMs: wallMs,
      lastSuccessMs: wallMs,
      lastError: undefined,
      snapshot,
    });
    const durationMs = clock.monotonic() - startedMs;
    this.#history.note({ atMs: snapshot.at.monotonicMs, durationMs, figures: figuresOf(snapshot) });
    for (const { record, reason, count } of listing.invalidCounts)
      metrics.invalidRecord(record, reason, count);
    metrics.succeeded(durationMs / 1000);
    changes.succeeded(snapshot, listing.invalidCounts, durationMs);
  }

  #fail(failed: FailedListing, startedMs: number): void {
    const { metrics, changes, clock } = this.#options;
    const { error, ret } = failed;
    const { wallMs, monotonicMs } = this.#now();
    this.#pausedUntilMs = pausedUntilMs(monotonicMs, error.retryAfterMs);
    this.#publish({ isUp: false, ret, lastPollMs: wallMs, lastError: error.reason });
    const durationMs = clock.monotonic() - startedMs;
    this.#history.note({ atMs: monotonicMs, durationMs, error: error.reason });
    metrics.failed(error.reason, durationMs / 1000);
    changes.failed(failed, durationMs);
  }

  /** Publishes the state as it was but for `news`. */
  #publish(news: Partial<CodeState>): void {
    const { store } = this.#options;
    const { target, staleAfterMs } = this.#code;
    const before = store.get(target.serviceCode) ?? unpolled(target.serviceCode, staleAfterMs, this.#history);
    store.publish({ ...before, ...news, staleAfterMs });
  }

  #now(): Instant {
    const { clock } = this.#options;
    return { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  }
}
