import type { ReaderPool } from '../listing/reader.ts';
import { NO_STATIC_LABELS } from '../families/family.ts';
import type { Histogram } from '../families/histogram.ts';
import { BackgroundTask } from '../runtime/background-task.ts';
import type { Clock } from '../runtime/clock.ts';
import { readInstant } from '../runtime/instant.ts';
import { hideUnexpected } from '../tally/snapshot.ts';
import type { TallyRecords } from '../tally/tally-state.ts';
import type { Tally } from '../tally/tally.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import { getCodeKind } from '../upstream/errors.ts';
import { fetchListing, rejectForeign, type FailedListing, type GoodListing } from './fetch-listing.ts';
import { computeTotals, PollHistory, type CompletedPoll } from './poll-history.ts';
import type { PollLogger } from './poll-logger.ts';
import { NO_POLLS, type SkipReason } from './poll-metrics.ts';
import type { PolledCode } from './polled-code.ts';
import { findRemedies } from './remedies.ts';
import { computeNextPoll, findFirstPollAfter, type FirstDelays } from './schedule.ts';
import type { CodeState, PollFailure, Store } from './store.ts';

export interface StateWriter {
  /** Writes the state records of a tally after a commit. Resolves when its listing can be published. */
  write(serviceCode: string, records: TallyRecords): Promise<void>;
}

/** Longest pause that the exporter grants to a `Retry-After`, however long the service asks for. */
const MAX_PAUSE_MS = 5 * 60 * 1000;

/** A loop that is late by less is not stuck: a process that was suspended needs time to catch up. */
const MIN_OVERDUE_MS = 60_000;

export interface ServiceCodePollerOptions {
  readonly code: PolledCode;
  readonly client: Pick<UpstreamClient, 'requestListing'>;
  readonly readers: ReaderPool;
  readonly tally: Tally;
  readonly store: Store;
  /** In seconds, of all service codes. */
  readonly pollDurations: Pick<Histogram, 'observe'>;
  readonly pollLogger: PollLogger;
  readonly clock: Clock;
  readonly persistence?: StateWriter | undefined;
  /** Where polls of any code have succeeded: base URLs, each with its path, and their origins. */
  readonly goodAddresses: { has(address: string): boolean; set(address: string, isGood: true): unknown };
}

export interface PollPlan {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly intervalMs: number;
  /** Time to the next periodic poll; not positive while one runs, `undefined` while none is planned. */
  readonly nextPollInMs: number | undefined;
  /** Whether polls are skipped until then because the service asked for a pause (`Retry-After`). */
  readonly isPaused: boolean;
}

/** Polls one service code, one poll at a time: periodically after `start`, or once with `poll`. */
export class ServiceCodePoller {
  readonly #options: ServiceCodePollerOptions;
  /** Has a signal of its own: removing a listener from a shared one would search those of all polls. */
  #polling: BackgroundTask | undefined;
  #code: PolledCode;
  #state: CodeState;
  /** Whether earlier listings had records that name the code; those of an alias never do. */
  #hasSeenOwnRecords = false;
  /** Monotonic time at which the loop should wake up or the running poll started; `undefined` while idle. */
  #pendingSinceMs: number | undefined;

  constructor(options: ServiceCodePollerOptions) {
    const { tally, code, clock } = options;
    this.#options = options;
    this.#code = code;
    const { serviceCode, staleAfterMs, intervalMs } = code;
    const unpolled = {
      polls: NO_POLLS,
      history: new PollHistory(),
      labels: NO_STATIC_LABELS,
      listedMs: tally.lastListing?.monotonicMs ?? clock.monotonic(),
    };
    this.#state = { serviceCode, staleAfterMs, intervalMs, ...unpolled };
    tally.expectation = code.expectation;
    // Restored: polls of an earlier process have succeeded, most likely there.
    if (tally.listings > 0) this.#noteSuccess();
    this.#publish({});
  }

  get code(): PolledCode {
    return this.#code;
  }

  get tally(): Tally {
    return this.#options.tally;
  }

  /** `nowMs` is monotonic. */
  getPlan(nowMs: number): PollPlan {
    const { baseUrl, intervalMs } = this.#code;
    const isPaused = nowMs < this.#pausedUntilMs;
    let dueMs = this.#pendingSinceMs;
    if (dueMs !== undefined && isPaused) dueMs = findFirstPollAfter(dueMs, intervalMs, this.#pausedUntilMs);
    const nextPollInMs = dueMs === undefined ? undefined : dueMs - nowMs;
    return { origin: new URL(baseUrl).origin, intervalMs, nextPollInMs, isPaused };
  }

  /** Applies new settings. During a poll, only the expectation and the labels may differ. */
  configure(code: PolledCode): void {
    const { tally } = this.#options;
    let { failure, snapshot } = this.#state;
    if (code.baseUrl !== this.#code.baseUrl) {
      // The pause was requested by the server at the old address.
      failure &&= { ...failure, pausedUntilMs: undefined };
      this.#hasSeenOwnRecords = false;
    }
    this.#code = code;
    tally.stallAfterMs = code.stallAfterMs;
    tally.pollIntervalMs = code.intervalMs;
    tally.expectation = code.expectation;
    snapshot &&= hideUnexpected(snapshot, code.expectation?.names);
    this.#publish({ failure, snapshot });
  }

  get #pausedUntilMs(): number {
    return this.#state.failure?.pausedUntilMs ?? 0;
  }

  /** Whether the loop or a poll is late: over a minute, and twice the longest poll. `nowMs` is monotonic. */
  isStuck(nowMs: number): boolean {
    const { timeoutMs } = this.#code;
    return nowMs - (this.#pendingSinceMs ?? nowMs) > Math.max(MIN_OVERDUE_MS, 2 * timeoutMs);
  }

  start(delays: FirstDelays, onFailure: (error: unknown) => void): void {
    this.#polling = new BackgroundTask((signal) => this.#run(delays, signal), onFailure);
  }

  async stop(): Promise<void> {
    await this.#polling?.[Symbol.asyncDispose]();
    this.#polling = undefined;
  }

  async #run({ firstMs, secondMs }: FirstDelays, signal: AbortSignal): Promise<never> {
    const { clock } = this.#options;
    const startedMs = clock.monotonic();
    try {
      let dueMs = startedMs + firstMs;
      for (let gridMs = startedMs + secondMs - this.#code.intervalMs; ; dueMs = gridMs) {
        this.#pendingSinceMs = dueMs;
        await clock.sleep(dueMs - clock.monotonic(), signal);
        this.#pendingSinceMs = clock.monotonic();
        if (this.#pendingSinceMs < this.#pausedUntilMs) this.#countSkipped('retry_after', 1);
        else await this.poll(signal);
        gridMs = this.#computeNextDueMs(gridMs);
      }
    } finally {
      this.#pendingSinceMs = undefined;
    }
  }

  /** Polls once. Rejects only with the signal's reason or an internal error. */
  async poll(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const { client, readers, clock, tally } = this.#options;
    const startedMs = clock.monotonic();
    const received = await fetchListing(client, this.#code, readers, tally.accountShare, signal);
    const fetched = this.#hasSeenOwnRecords ? rejectForeign(received) : received;
    if (fetched.error === undefined) await this.#commit(fetched, startedMs);
    else this.#fail(fetched, startedMs);
  }

  #computeNextDueMs(lastDueMs: number): number {
    const nowMs = this.#options.clock.monotonic();
    const { dueMs, overlapCount } = computeNextPoll(lastDueMs, this.#code.intervalMs, nowMs);
    if (overlapCount > 0) this.#countSkipped('overlap', overlapCount);
    return dueMs;
  }

  async #commit(good: GoodListing, startedMs: number): Promise<void> {
    const { tally, pollLogger, clock, persistence } = this.#options;
    const { snapshot, problems, records } = tally.commit(good.listing, readInstant(clock));
    const durationMs = clock.monotonic() - startedMs;
    // A listing that scrapes have seen must survive a kill of the process.
    await persistence?.write(tally.serviceCode, records);
    this.#noteSuccess();
    this.#hasSeenOwnRecords ||= good.listing.ofPolledCode > 0;
    const poll = { atMs: snapshot.at.monotonicMs, durationMs, totals: computeTotals(snapshot) };
    // A reload may have removed names meanwhile.
    const shown = hideUnexpected(snapshot, this.#code.expectation?.names);
    this.#endPoll(good, poll, { failure: undefined, snapshot: shown });
    pollLogger.logSuccess(snapshot, problems, durationMs);
  }

  #noteSuccess(): void {
    const { href, origin } = new URL(this.#code.baseUrl);
    for (const address of [href, origin]) this.#options.goodAddresses.set(address, true);
  }

  #fail(failed: FailedListing, startedMs: number): void {
    const { reason, message, retryAfterMs } = failed.error;
    const { goodAddresses, clock, pollLogger } = this.#options;
    const { href, origin } = new URL(this.#code.baseUrl);
    const nowMs = clock.monotonic();
    const failure: PollFailure = {
      reason,
      message,
      remedies: findRemedies({
        target: this.#code,
        fetched: failed,
        hasSucceeded: goodAddresses.has(href),
        hasOriginSucceeded: goodAddresses.has(origin),
      }),
      sinceMs: this.#state.failure?.sinceMs ?? nowMs,
      pausedUntilMs: retryAfterMs && nowMs + Math.min(retryAfterMs, MAX_PAUSE_MS),
    };
    const durationMs = nowMs - startedMs;
    const errorCode = getCodeKind(reason) === 'ret' ? failed.ret : failed.response?.status;
    this.#endPoll(failed, { atMs: nowMs, durationMs, error: reason, errorCode }, { failure });
    pollLogger.logFailure(failed, durationMs, failure.remedies[0]);
  }

  /** Publishes the state after a poll; `changes` are those of its outcome. */
  #endPoll(
    { ret, bytes, response }: GoodListing | FailedListing,
    poll: CompletedPoll,
    changes: Partial<CodeState>,
  ): void {
    const { polls, history, responseBytes } = this.#state;
    const { atMs, error, durationMs } = poll;
    const { errors } = polls;
    history.append(poll);
    this.#options.pollDurations.observe(durationMs / 1000);
    this.#publish({
      ...changes,
      lastPoll: { atMs, durationMs },
      ret,
      httpStatus: response?.status,
      polls: {
        ...polls,
        ended: polls.ended + 1,
        errors: error === undefined ? errors : { ...errors, [error]: errors[error] + 1 },
      },
      clockOffset: response?.clockOffset,
      certificateNotAfterMs: response?.certificateNotAfterMs,
      responseBytes: bytes ?? responseBytes,
    });
  }

  #countSkipped(reason: SkipReason, count: number): void {
    const { polls } = this.#state;
    const { skipped } = polls;
    this.#publish({ polls: { ...polls, skipped: { ...skipped, [reason]: skipped[reason] + count } } });
  }

  #publish(changes: Partial<CodeState>): void {
    const { staleAfterMs, intervalMs, expectation, labels = NO_STATIC_LABELS } = this.#code;
    this.#state = { ...this.#state, ...changes, staleAfterMs, intervalMs, expectation, labels };
    this.#options.store.publish(this.#state);
  }
}
