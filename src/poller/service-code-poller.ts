import type { Clock } from '../clock.ts';
import type { RecordReaders } from '../listing/record-readers.ts';
import type { PollMetrics } from '../metrics/self.ts';
import type { Instant } from '../tally/instant.ts';
import type { ListingTally } from '../tally/listing-tally.ts';
import type { Tally } from '../tally/tally.ts';
import type { ListingTarget, UpstreamClient } from '../upstream/client.ts';
import { UpstreamError } from '../upstream/errors.ts';
import type { PollChanges } from './changes.ts';
import { fetchListing, type FailedListing, type GoodListing } from './fetch-listing.ts';
import { figuresOf } from './figures.ts';
import { PollHistory } from './poll-history.ts';
import { nextPoll, pausedUntilMs } from './schedule.ts';
import { unpolled, type Store } from './store.ts';

/** How much longer than its deadline a poll may take before it is given up as hung. */
const HUNG_AFTER_MS = 5000;

export interface ServiceCodePollerOptions {
  readonly target: ListingTarget;
  readonly intervalMs: number;
  readonly staleAfterMs: number;
  readonly client: Pick<UpstreamClient, 'requestListing'>;
  readonly records: RecordReaders;
  readonly tally: Tally;
  readonly store: Store;
  readonly metrics: PollMetrics;
  readonly changes: PollChanges;
  readonly clock: Clock;
}

/** Polls one service code, one poll at a time, on a grid of its own. */
export class ServiceCodePoller {
  readonly #options: ServiceCodePollerOptions;
  readonly #history = new PollHistory();
  /** The service asked to be left alone until then; monotonic milliseconds. */
  #pausedUntilMs = 0;

  constructor(options: ServiceCodePollerOptions) {
    this.#options = options;
    options.store.publish(unpolled(options.target.serviceCode, options.staleAfterMs, this.#history));
  }

  /** Polls until the signal aborts, and then rejects with its reason. */
  async run(firstDelayMs: number, signal: AbortSignal): Promise<never> {
    const { clock, intervalMs, metrics } = this.#options;
    let dueMs = clock.monotonic() + firstDelayMs;
    for (;;) {
      await clock.sleep(dueMs - clock.monotonic(), signal);
      if (clock.monotonic() < this.#pausedUntilMs) metrics.skipped('retry_after');
      else await this.poll(signal);
      const next = nextPoll(dueMs, intervalMs, clock.monotonic());
      for (let missed = 0; missed < next.overlapped; missed += 1) metrics.skipped('overlap');
      dueMs = next.dueMs;
    }
  }

  /** Polls once. Rejects only with the signal's reason, or for a mistake of the program. */
  async poll(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { clock, metrics, tally } = this.#options;
    const startedMs = clock.monotonic();
    const listing = tally.begin();
    metrics.started();
    const fetched = await this.#fetch(listing, signal);
    if (fetched.bytes > 0) metrics.responseBytes(fetched.bytes);
    if (fetched.error === undefined) this.#commit(listing, fetched, startedMs);
    else this.#fail(fetched, startedMs);
  }

  /** The client keeps its own deadline; should it ever fail to, the poll is given up here. */
  async #fetch(listing: ListingTally, signal: AbortSignal): Promise<GoodListing | FailedListing> {
    const { client, target, records, clock } = this.#options;
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
      ending.abort();
    }
  }

  async #watch(patience: Promise<void>): Promise<FailedListing> {
    await patience;
    const error = new UpstreamError('timeout', 'Expected the poll to end by its deadline, found it hung');
    return { error, ret: undefined, bytes: 0 };
  }

  #commit(listing: ListingTally, { ret }: GoodListing, startedMs: number): void {
    const { store, tally, metrics, changes, clock, target, staleAfterMs } = this.#options;
    const snapshot = tally.commit(listing, this.#now());
    store.publish({
      serviceCode: target.serviceCode,
      isUp: true,
      ret,
      lastPollMs: snapshot.at.wallMs,
      lastSuccessMs: snapshot.at.wallMs,
      lastError: undefined,
      snapshot,
      staleAfterMs,
      history: this.#history,
    });
    const durationMs = clock.monotonic() - startedMs;
    this.#history.note({ atMs: snapshot.at.monotonicMs, durationMs, figures: figuresOf(snapshot) });
    for (const { record, reason, count } of listing.invalidCounts)
      metrics.invalidRecord(record, reason, count);
    metrics.succeeded(durationMs / 1000);
    changes.succeeded(snapshot, listing.invalidCounts, durationMs);
  }

  #fail(failed: FailedListing, startedMs: number): void {
    const { store, metrics, changes, clock, target, staleAfterMs } = this.#options;
    const { error, ret } = failed;
    const before = store.get(target.serviceCode) ?? unpolled(target.serviceCode, staleAfterMs);
    const { wallMs, monotonicMs } = this.#now();
    this.#pausedUntilMs = pausedUntilMs(monotonicMs, error.retryAfterMs);
    store.publish({ ...before, isUp: false, ret, lastPollMs: wallMs, lastError: error.reason });
    const durationMs = clock.monotonic() - startedMs;
    this.#history.note({ atMs: monotonicMs, durationMs, error: error.reason });
    metrics.failed(error.reason, durationMs / 1000);
    changes.failed(failed, durationMs);
  }

  #now(): Instant {
    const { clock } = this.#options;
    return { wallMs: clock.now(), monotonicMs: clock.monotonic() };
  }
}
