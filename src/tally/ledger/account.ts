/* The rules of docs/counters.md for one account and value. Times are monotonic ms, rates bytes per second. */

/** The base of an account that has never had a valid value: the first one is its base and adds nothing. */
export const NO_VALUE = -1;

/** Rates that no network link exceeds: 40 Gbit/s into a task, 400 Gbit/s out of an output. */
export const LINK_RATES = { input: 5e9, http_output: 5e10 } as const;

/** Waiting values are confirmed when they have this many listings. */
const CONFIRMING_LISTINGS = 3;

/** A front end that lags behind answers with older values for so long, or for five polls. */
const OLDER_ANSWERS_MS = 10 * 60 * 1000;
const OLDER_ANSWERS_POLLS = 5;

/** Values that wait for later listings to confirm them: each continues the one before. */
interface WaitingValues {
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
  /** The least rate of its stream, if confirmed values grew faster than the setting; else 0. */
  streamRate: number;
  /** The base that it left when the service began to count again; 0 if there is none. */
  bytesBeforeReset: number;
  /** `undefined` unless values wait. It is not persisted. */
  waitingValues?: WaitingValues | undefined;
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

/** What the evaluation of the values of one direction in one commit finds. */
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
    bytesBeforeReset: 0,
    waitingValues: undefined,
  };
}

/** Evaluates the value with which an account is opened; returns the bytes that it adds. */
export function evaluateFirst(bytes: number | undefined, streamRate: number, findings: Findings): number {
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

/** Evaluates the next value of an account; returns the bytes that it adds. */
export function evaluate(account: Account, bytes: number, streamRate: number, findings: Findings): number {
  const { baseBytes, waitingValues } = account;
  if (baseBytes === NO_VALUE) return accept(account, bytes, 0, findings);
  if (bytes > 0 && bytes !== (waitingValues?.lastBytes ?? baseBytes)) findings.changedCount += 1;
  if (isReturn(account, bytes)) {
    account.bytesBeforeReset = 0;
    return accept(account, bytes, 0, findings);
  }
  if (isGrowth(account, bytes, streamRate, findings))
    return accept(account, bytes, bytes - baseBytes, findings);
  return wait(account, bytes, streamRate, findings);
}

function accept(account: Account, bytes: number, increasedBytes: number, { nowMs }: Findings): number {
  account.baseBytes = bytes;
  account.acceptedMs = nowMs;
  account.waitingValues = undefined;
  return increasedBytes;
}

/** Whether an account that began again is back at its count before the reset, which is counted already. */
function isReturn({ baseBytes, bytesBeforeReset }: Account, bytes: number): boolean {
  return baseBytes < bytesBeforeReset / 2 && bytes >= bytesBeforeReset / 2;
}

/** A value that is neither growth nor a return adds nothing until later ones confirm it. */
function wait(account: Account, bytes: number, streamRate: number, findings: Findings): number {
  const waitingValues = continueWaiting(account, bytes, streamRate, findings);
  const hasBegunAgain = bytes < account.baseBytes / 2;
  account.waitingValues = waitingValues;
  if (!isConfirmed(account, waitingValues, findings)) {
    findings.waitingCount += 1;
    if (waitingValues.length < CONFIRMING_LISTINGS) findings.undecidedCount += 1;
    if (!hasBegunAgain) findings.implausibleCount += 1;
    return 0;
  }
  if (hasBegunAgain) {
    findings.resetCount += 1;
    account.bytesBeforeReset = Math.max(account.bytesBeforeReset, account.baseBytes);
  }
  if (waitingValues.fastestRate > streamRate)
    account.streamRate = Math.max(account.streamRate, 2 * waitingValues.fastestRate);
  return accept(account, bytes, bytes - waitingValues.firstBytes, findings);
}

/** Whether the service has really changed. Values little below the base may be older answers for long. */
function isConfirmed(
  { baseBytes, acceptedMs }: Account,
  { firstBytes, lastBytes, length }: WaitingValues,
  { nowMs, pollIntervalMs }: Findings,
): boolean {
  if (length < CONFIRMING_LISTINGS || lastBytes === firstBytes) return false;
  if (lastBytes < baseBytes / 2 || lastBytes >= baseBytes) return true;
  return nowMs - acceptedMs > Math.max(OLDER_ANSWERS_MS, OLDER_ANSWERS_POLLS * pollIntervalMs);
}

/** The waiting values with one more; new ones if the value does not continue them. */
function continueWaiting(
  account: Account,
  bytes: number,
  streamRate: number,
  findings: Findings,
): WaitingValues {
  const { waitingValues, baseBytes } = account;
  const { nowMs, direction, pollIntervalMs } = findings;
  const begun = { firstBytes: bytes, lastBytes: bytes, lastMs: nowMs, length: 1, fastestRate: 0 };
  const isBelow = bytes < baseBytes;
  if (waitingValues === undefined || waitingValues.lastBytes < baseBytes !== isBelow) return begun;
  const stepBytes = bytes - waitingValues.lastBytes;
  const stepMs = Math.max(pollIntervalMs, nowMs - waitingValues.lastMs);
  const rate = isBelow ? Math.max(streamRate, account.streamRate) : LINK_RATES[direction];
  if (stepBytes < 0 || stepBytes > computeCarriedBytes(rate, stepMs)) return begun;
  return {
    firstBytes: waitingValues.firstBytes,
    lastBytes: bytes,
    lastMs: nowMs,
    length: waitingValues.length + 1,
    fastestRate: Math.max(waitingValues.fastestRate, (stepBytes * 1000) / stepMs),
  };
}
