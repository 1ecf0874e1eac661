/* The rules of docs/counters.md for one account and value. Times are monotonic ms, rates bytes per second. */

/** The base of an account that has never had a valid value: the first one is its base and adds nothing. */
export const NO_VALUE = -1;

/** Rates that no network link exceeds: 40 Gbit/s into a task, 400 Gbit/s out of an output. */
export const LINK_RATES = { input: 5e9, http_output: 5e10 } as const;

/** A streak is believed when it has this many listings. */
const BELIEVED_LISTINGS = 3;

/** A front end that lags behind answers with older values for so long, or for five polls. */
const OLDER_ANSWERS_MS = 10 * 60 * 1000;
const OLDER_ANSWERS_POLLS = 5;

/** Values that wait to be believed: each continues the one before. */
interface Streak {
  readonly firstBytes: number;
  readonly lastBytes: number;
  readonly lastMs: number;
  readonly length: number;
  /** The highest rate between two of its values. */
  readonly fastestRate: number;
}

/** The account of one byte count of the service: of a task, an input or an output. */
export interface Account {
  /** The last value that was accepted, or `NO_VALUE`. */
  baseBytes: number;
  acceptedMs: number;
  /** The least rate of its stream, if a streak that was believed was faster than the setting; else 0. */
  streamRate: number;
  /** The base that it left when the service began to count again; 0 if there is none. */
  formerBytes: number;
  /** `undefined` unless values wait. It is not persisted. */
  streak?: Streak | undefined;
}

/** Time as accounts see it in one commit. */
export interface CommitTimes {
  readonly nowMs: number;
  readonly pollIntervalMs: number;
  /** When the previous good listing was taken; `undefined` in the first one of an unknown code. */
  readonly previousListingMs: number | undefined;
  /** When this process restored the accounts, if it did. */
  readonly restoredMs: number;
  /** What the wall clock says besides that has passed since the previous good listing; at least 0. */
  readonly suspendedMs: number;
  /** What the time between two processes can have been at most, if the wall clock does not tell; else 0. */
  readonly unknownGapMs: number;
}

/** Judges the values of one direction in one commit, and counts what it finds. */
export interface Findings extends CommitTimes {
  readonly direction: keyof typeof LINK_RATES;
  resetCount: number;
  /** Values that wait or that no stream can have carried, except those far below their base. */
  implausibleCount: number;
  waitingCount: number;
  /** Values above 0 that differ from the last listed one of their account, accepted or not: bytes flow. */
  changedCount: number;
  /** Values that have waited for fewer listings than confirm them: bytes may flow. */
  undecidedCount: number;
}

export function createFindings(times: CommitTimes, direction: keyof typeof LINK_RATES): Findings {
  const counts = { resetCount: 0, implausibleCount: 0, waitingCount: 0, changedCount: 0, undecidedCount: 0 };
  return { ...times, direction, ...counts };
}

/** How long a stream can have carried bytes since a moment: at least one poll interval. */
export function measureAgeMs(sinceMs: number, times: CommitTimes): number {
  const gapMs = sinceMs <= times.restoredMs ? times.unknownGapMs : 0;
  return Math.max(times.pollIntervalMs, times.nowMs - sinceMs + gapMs + times.suspendedMs);
}

export function computeCarriedBytes(rate: number, durationMs: number): number {
  return (rate * durationMs) / 1000;
}

/** Rule 1: whether a value is at or above the base by no more than a stream can have carried. */
export function isGrowth(account: Account, bytes: number, streamRate: number, times: CommitTimes): boolean {
  const { baseBytes, acceptedMs } = account;
  const rate = Math.max(streamRate, account.streamRate);
  return (
    baseBytes !== NO_VALUE &&
    bytes >= baseBytes &&
    bytes - baseBytes <= computeCarriedBytes(rate, measureAgeMs(acceptedMs, times))
  );
}

export function openAccount(bytes: number | undefined, times: CommitTimes): Account {
  return {
    baseBytes: bytes ?? NO_VALUE,
    acceptedMs: times.nowMs,
    streamRate: 0,
    formerBytes: 0,
    streak: undefined,
  };
}

/** Judges the value with which an account is opened; returns the bytes that it adds. */
export function judgeFirst(bytes: number | undefined, streamRate: number, findings: Findings): number {
  const { previousListingMs, pollIntervalMs, nowMs, suspendedMs } = findings;
  if (bytes === undefined || previousListingMs === undefined) return 0;
  if (
    bytes > computeCarriedBytes(streamRate, Math.max(pollIntervalMs, nowMs - previousListingMs + suspendedMs))
  ) {
    findings.implausibleCount += 1;
    return 0;
  }
  if (bytes > 0) findings.changedCount += 1;
  return bytes;
}

/** Judges the next value of an account; returns the bytes that it adds. */
export function judge(account: Account, bytes: number, streamRate: number, findings: Findings): number {
  const { baseBytes, streak } = account;
  if (baseBytes === NO_VALUE) return accept(account, bytes, 0, findings);
  if (bytes > 0 && bytes !== (streak?.lastBytes ?? baseBytes)) findings.changedCount += 1;
  if (isReturn(account, bytes)) {
    account.formerBytes = 0;
    return accept(account, bytes, 0, findings);
  }
  if (isGrowth(account, bytes, streamRate, findings))
    return accept(account, bytes, bytes - baseBytes, findings);
  return wait(account, bytes, streamRate, findings);
}

function accept(account: Account, bytes: number, gainedBytes: number, { nowMs }: Findings): number {
  account.baseBytes = bytes;
  account.acceptedMs = nowMs;
  account.streak = undefined;
  return gainedBytes;
}

/** Whether an account that began again is back at its former count, which is counted already. */
function isReturn({ baseBytes, formerBytes }: Account, bytes: number): boolean {
  return baseBytes < formerBytes / 2 && bytes >= formerBytes / 2;
}

/** A value that is neither growth nor a return adds nothing until its streak is believed. */
function wait(account: Account, bytes: number, streamRate: number, findings: Findings): number {
  const streak = continueStreak(account, bytes, streamRate, findings);
  const hasBegunAgain = bytes < account.baseBytes / 2;
  account.streak = streak;
  if (!isBelieved(account, streak, findings)) {
    findings.waitingCount += 1;
    if (streak.length < BELIEVED_LISTINGS) findings.undecidedCount += 1;
    if (!hasBegunAgain) findings.implausibleCount += 1;
    return 0;
  }
  if (hasBegunAgain) {
    findings.resetCount += 1;
    account.formerBytes = Math.max(account.formerBytes, account.baseBytes);
  }
  if (streak.fastestRate > streamRate)
    account.streamRate = Math.max(account.streamRate, 2 * streak.fastestRate);
  return accept(account, bytes, bytes - streak.firstBytes, findings);
}

/** Whether the service has really changed. Values little below the base may be older answers for long. */
function isBelieved(
  { baseBytes, acceptedMs }: Account,
  { firstBytes, lastBytes, length }: Streak,
  { nowMs, pollIntervalMs }: Findings,
): boolean {
  if (length < BELIEVED_LISTINGS || lastBytes === firstBytes) return false;
  if (lastBytes < baseBytes / 2 || lastBytes >= baseBytes) return true;
  return nowMs - acceptedMs > Math.max(OLDER_ANSWERS_MS, OLDER_ANSWERS_POLLS * pollIntervalMs);
}

/** The streak with one more value; a new one if the value does not continue it. */
function continueStreak(account: Account, bytes: number, streamRate: number, findings: Findings): Streak {
  const { streak, baseBytes } = account;
  const { nowMs, direction, pollIntervalMs } = findings;
  const begun = { firstBytes: bytes, lastBytes: bytes, lastMs: nowMs, length: 1, fastestRate: 0 };
  const isBelow = bytes < baseBytes;
  if (streak === undefined || streak.lastBytes < baseBytes !== isBelow) return begun;
  const stepBytes = bytes - streak.lastBytes;
  const stepMs = Math.max(pollIntervalMs, nowMs - streak.lastMs);
  const rate = isBelow ? Math.max(streamRate, account.streamRate) : LINK_RATES[direction];
  if (stepBytes < 0 || stepBytes > computeCarriedBytes(rate, stepMs)) return begun;
  return {
    firstBytes: streak.firstBytes,
    lastBytes: bytes,
    lastMs: nowMs,
    length: streak.length + 1,
    fastestRate: Math.max(streak.fastestRate, (stepBytes * 1000) / stepMs),
  };
}
