import { recordOf } from '../families/record-of.ts';
import { columnOf, type Samples } from '../families/family.ts';
import type { Snapshot } from '../tally/snapshot.ts';
import { POLL_ERROR_REASONS } from '../upstream/errors.ts';
import { certainOffsetMs, type ClockOffset } from '../upstream/response-headers.ts';
import type { POLL_FAMILIES } from './catalogue.ts';
import type { PollHistory } from './poll-history.ts';

const SKIP_REASONS = ['overlap', 'retry_after'] as const;

export type SkipReason = (typeof SKIP_REASONS)[number];

/** Polls of a service code since the start of the process. */
export const NO_POLLS = {
  ended: 0,
  errors: recordOf(POLL_ERROR_REASONS, () => 0),
  skipped: recordOf(SKIP_REASONS, () => 0),
};

/**
 * The polls of a service code, and what the last response told. Times are monotonic, but that of the
 * certificate.
 */
export interface PollState {
  readonly intervalMs: number;
  /** When the last good listing was taken, also by an earlier process; without one, when polls began. */
  readonly listedMs: number;
  readonly polls: Readonly<typeof NO_POLLS>;
  readonly history: PollHistory;
  /** When the last poll ended, and how long it took. */
  readonly lastPoll?: { readonly atMs: number; readonly durationMs: number } | undefined;
  /** The last good listing. */
  readonly snapshot?: Pick<Snapshot, 'at'> | undefined;
  /** HTTP status of the last response; `undefined` if the last poll got none. */
  readonly httpStatus?: number | undefined;
  readonly clockOffset?: ClockOffset | undefined;
  readonly certificateNotAfterMs?: number | undefined;
  /** Of the last response that had a body. */
  readonly responseBytes?: number | undefined;
}

/** Shared: a scrape has them of every service code. */
const ERROR_LABELS = POLL_ERROR_REASONS.map((reason) => [reason]);
const SKIP_LABELS = SKIP_REASONS.map((reason) => [reason]);

/** The age of a listing is as of such a step of the clock: the exposition of a code changes no more often. */
const AGE_STEP_MS = 10_000;

const toSeconds = (ms: number | undefined) => columnOf(ms === undefined ? undefined : ms / 1000);

const toTimestamp = (ms: number | undefined, wallOffsetMs: number) =>
  toSeconds(ms === undefined ? undefined : Math.round(ms + wallOffsetMs));

/** Counters exist from the start, at 0. */
export const POLL_SAMPLES = {
  polls: ({ polls }) => columnOf(polls.ended),
  pollErrors: ({ polls }) => ({ labelSets: ERROR_LABELS, numbers: Object.values(polls.errors) }),
  pollsSkipped: ({ polls }) => ({ labelSets: SKIP_LABELS, numbers: Object.values(polls.skipped) }),
  lastPollDuration: ({ lastPoll }) => toSeconds(lastPoll?.durationMs),
  lastPoll: ({ lastPoll }, { wallOffsetMs }) => toTimestamp(lastPoll?.atMs, wallOffsetMs),
  lastSuccess: ({ snapshot }, { wallOffsetMs }) => toTimestamp(snapshot?.at.monotonicMs, wallOffsetMs),
  listingAge: ({ snapshot, listedMs }, { nowMs }) => {
    // Scrapes within one step share their body.
    const stepMs = Math.floor(nowMs / AGE_STEP_MS) * AGE_STEP_MS;
    return toSeconds(Math.max(0, stepMs - Math.round(snapshot?.at.monotonicMs ?? listedMs)));
  },
  pollInterval: ({ intervalMs }) => toSeconds(intervalMs),
  responseBytes: ({ responseBytes }) => columnOf(responseBytes),
  httpStatus: ({ httpStatus }) => columnOf(httpStatus),
  clockOffset: ({ clockOffset }) => toSeconds(clockOffset && certainOffsetMs(clockOffset)),
  upstreamCertificateNotAfter: ({ certificateNotAfterMs }) => toSeconds(certificateNotAfterMs),
} satisfies Readonly<
  Record<
    keyof typeof POLL_FAMILIES,
    (state: PollState, view: { readonly wallOffsetMs: number; readonly nowMs: number }) => Samples
  >
>;
