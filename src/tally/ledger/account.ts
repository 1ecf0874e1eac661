/*
 * The rules of METRICS.md section 3 for one account and one value. Nothing here knows tasks. Times are monotonic
 * milliseconds, rates are bytes per second.
 */

/** The base of an account that has never had a valid value: the first one is its base and adds nothing. */
export const NO_VALUE = -1;

/** Rates that no network link exceeds: 40 Gbit/s into a task, 400 Gbit/s out of an output. */
export const LINK_RATES = { input: 5e9, http_output: 5e10 } as const;

/** A fall or a leap is believed when this many listings in a row have confirmed it. */
const CONFIRMING_LISTINGS = 3;

/** A front end that lags behind answers with older values for this long, or for five polls, if that is longer. */
const OLDER_ANSWERS_MS = 10 * 60 * 1000;
const OLDER_ANSWERS_POLLS = 5;

/** The rate of a run is measured over at least this time: two listings can be committed at almost the same moment. */
const MIN_STEP_MS = 1000;

/** Values that wait for confirmation: each continues the one before. */
interface Run {
  readonly firstBytes: number;
  readonly lastBytes: number;
  readonly lastMs: number;
  /** Number of listings. */
  readonly length: number;
  /** The highest rate between two of its values. */
  readonly fastestRate: number;
}

/** The account of one byte count of the service: of a task, an input or an output. */
export interface Account {
  /** The last value that was accepted, or `NO_VALUE`. */
  baseBytes: number;
  acceptedMs: number;
  /** Whether it has grown since it was opened. */
  hasGrown: boolean;
  /** The rate that its stream can have, if it was found to be faster than the setting; else 0. */
  streamRate: number;
  /** `undefined` unless values wait. */
  run?: Run | undefined;
}

/** Time as accounts see it in one commit. */
export interface MeterTimes {
  readonly nowMs: number;
  readonly pollIntervalMs: number;
  /** When the previous good listing was taken; `undefined` in the first one of a code of which nothing is known. */
  readonly previousListingMs: number | undefined;
  /** When this process restored the accounts, if it did. */
  readonly restoredMs: number;
  /** What the time between two processes can have been at most, if the wall clock does not tell; else 0. */
  readonly unknownGapMs: number;
}

/** Judges the values of one direction in one commit, and counts what it finds. */
export interface Meter extends MeterTimes {
  readonly direction: keyof typeof LINK_RATES;
  readonly linkRate: number;
  /** Accounts that began again. */
  resetCount: number;
  /** Values that wait or that no stream can have carried, except those far below their base. */
  implausibleCount: number;
  /** Values that grew, accepted or not. */
  growingCount: number;
}

export function createMeter(times: MeterTimes, direction: keyof typeof LINK_RATES): Meter {
  const linkRate = LINK_RATES[direction];
  return { ...times, direction, linkRate, resetCount: 0, implausibleCount: 0, growingCount: 0 };
}

/** How long a stream can have carried bytes since a moment: at least one poll interval. */
export function measureAgeMs(sinceMs: number, meter: MeterTimes): number {
  const gapMs = sinceMs <= meter.restoredMs ? meter.unknownGapMs : 0;
  return Math.max(meter.pollIntervalMs, meter.nowMs - sinceMs + gapMs);
}

/** The bytes that a rate carries in a time. */
export function computeCarriedBytes(rate: number, durationMs: number): number {
  return (rate * durationMs) / 1000;
}

/** Rule 1: whether a value is at or above the base by no more than a stream of the given rate can have carried. */
export function isGrowth(account: Account, bytes: number, streamRate: number, meter: MeterTimes): boolean {
  const { baseBytes, acceptedMs } = account;
  const rate = Math.max(streamRate, account.streamRate);
  return (
    baseBytes !== NO_VALUE &&
    bytes >= baseBytes &&
    bytes - baseBytes <= computeCarriedBytes(rate, measureAgeMs(acceptedMs, meter))
  );
}

/** Opens an account with its first value, if it has one. */
export function openAccount(bytes: number | undefined, meter: MeterTimes): Account {
  return {
    baseBytes: bytes ?? NO_VALUE,
    acceptedMs: meter.nowMs,
    hasGrown: false,
    streamRate: 0,
    run: undefined,
  };
}

/** Rule 3: judges the value with which an account is opened; returns the bytes that it adds. */
export function judgeFirst(bytes: number | undefined, streamRate: number, meter: Meter): number {
  const { previousListingMs, pollIntervalMs, nowMs } = meter;
  if (bytes === undefined || previousListingMs === undefined) return 0;
  if (bytes > computeCarriedBytes(streamRate, Math.max(pollIntervalMs, nowMs - previousListingMs))) {
    meter.implausibleCount += 1;
    return 0;
  }
  if (bytes > 0) meter.growingCount += 1;
  return bytes;
}

/** Rules 1 and 2: judges the next value of an account; returns the bytes that it adds. */
export function judge(account: Account, bytes: number, streamRate: number, meter: Meter): number {
  const { baseBytes } = account;
  if (baseBytes === NO_VALUE) return accept(account, bytes, 0, meter);
  if (!isGrowth(account, bytes, streamRate, meter)) return wait(account, bytes, streamRate, meter);
  if (bytes > baseBytes) {
    account.hasGrown = true;
    meter.growingCount += 1;
  }
  return accept(account, bytes, bytes - baseBytes, meter);
}

/** Makes a value the base. */
function accept(account: Account, bytes: number, gainedBytes: number, { nowMs }: Meter): number {
  account.baseBytes = bytes;
  account.acceptedMs = nowMs;
  account.run = undefined;
  return gainedBytes;
}

/** Rule 2: a value that is not growth waits until a run of listings has confirmed it. */
function wait(account: Account, bytes: number, streamRate: number, meter: Meter): number {
  const { baseBytes } = account;
  const ageMs = measureAgeMs(account.acceptedMs, meter);
  const isFarBelow = bytes < baseBytes / 2;
  const isOlderAnswer = bytes < baseBytes && !isFarBelow;
  const run = continueRun(account, bytes, streamRate, meter);
  account.run = run;
  if (!isFarBelow) meter.implausibleCount += 1;
  if (run.length < CONFIRMING_LISTINGS || bytes === run.firstBytes) return 0;
  const olderAnswersMs = Math.max(OLDER_ANSWERS_MS, OLDER_ANSWERS_POLLS * meter.pollIntervalMs);
  if (isOlderAnswer && ageMs <= olderAnswersMs) return 0;

  const gainedBytes = isFarBelow
    ? measureNewBeginning(account, run, streamRate, ageMs)
    : measureLeap(account, run, ageMs, meter);
  if (isFarBelow) meter.resetCount += 1;
  if (run.fastestRate > streamRate) account.streamRate = 2 * run.fastestRate;
  account.hasGrown = true;
  return accept(account, bytes, gainedBytes, meter);
}

/** The bytes of an account that began again: all of them, if a stream can have carried them since its base. */
function measureNewBeginning(account: Account, run: Run, streamRate: number, ageMs: number): number {
  const rate = Math.max(streamRate, account.streamRate);
  const { firstBytes, lastBytes } = run;
  return lastBytes <= computeCarriedBytes(rate, ageMs) ? lastBytes : lastBytes - firstBytes;
}

/** The growth since the base, if a link can have carried it; else, and after older answers, the growth of the run. */
function measureLeap(account: Account, run: Run, ageMs: number, { linkRate }: Meter): number {
  const growthBytes = run.lastBytes - account.baseBytes;
  const isCarried =
    account.hasGrown && growthBytes >= 0 && growthBytes <= computeCarriedBytes(linkRate, ageMs);
  return isCarried ? growthBytes : run.lastBytes - run.firstBytes;
}

/** The run with one more value; a new run if the value does not continue it, or lies on the other side of the base. */
function continueRun(account: Account, bytes: number, streamRate: number, meter: Meter): Run {
  const { run, baseBytes } = account;
  const { nowMs, linkRate, pollIntervalMs } = meter;
  const begun = { firstBytes: bytes, lastBytes: bytes, lastMs: nowMs, length: 1, fastestRate: 0 };
  const isBelow = bytes < baseBytes;
  if (run === undefined || run.lastBytes < baseBytes !== isBelow) return begun;
  const stepBytes = bytes - run.lastBytes;
  const stepMs = Math.max(MIN_STEP_MS, nowMs - run.lastMs);
  const rate = isBelow ? Math.max(streamRate, account.streamRate) : linkRate;
  if (stepBytes < 0 || stepBytes > computeCarriedBytes(rate, Math.max(pollIntervalMs, stepMs))) return begun;
  if (stepBytes > 0) meter.growingCount += 1;
  return {
    firstBytes: run.firstBytes,
    lastBytes: bytes,
    lastMs: nowMs,
    length: run.length + 1,
    fastestRate: Math.max(run.fastestRate, (stepBytes * 1000) / stepMs),
  };
}
