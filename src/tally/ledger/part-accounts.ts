import { OWN_INPUT, type PartReading } from '../../listing/listing.ts';
import {
  computeCarriedBytes,
  isGrowth,
  evaluate,
  evaluateFirst,
  measureAgeMs,
  NO_VALUE,
  openAccount,
  type Account,
  type Findings,
} from './account.ts';

/*
 * The accounts of a task's outputs, or of its inputs; its own `input_bytes` can be the only one. While all
 * are listed and their last values were accepted, they are numbers in one array, in the order of their
 * readings: a fifth of the memory of objects.
 */

interface PartAccount extends Account {
  readonly identity: number;
  /** The connections of an output in the last listing. */
  connections: number;
  /** When a part that has left its task was last listed; `undefined` while it is listed. */
  departedMs?: number | undefined;
}

/**
 * The accounts of the inputs or of the outputs of a task: numbers in the usual case, objects while a value
 * waits or a part has left. One form for both would take five times the memory, or have no room for these.
 */
export type PartAccounts = number[] | PartAccount[];

export interface PartsUpdate {
  readonly findings: Findings;
  /** Of an input, or of one connection of an output. */
  readonly streamRate: number;
  readonly lastSeenMs: number;
  /** Departed parts that were last listed by then are forgotten. */
  readonly forgetBeforeMs: number;
}

type ReportIncrease = (index: number, bytes: number) => void;

/** Numbers per account in the usual case: its identity, its base, and its connections. */
export const NUMBERS_PER_PART = 3;

/**
 * Evaluates the parts of a listed task, reports the bytes that each reading adds, by its index, and returns
 * the accounts after it. `readings` are sorted by identity, then by bytes, the largest first.
 */
export function updateParts(
  parts: PartAccounts,
  readings: readonly PartReading[],
  update: PartsUpdate,
  report: ReportIncrease,
): PartAccounts {
  if (areNumbers(parts) && haveAllGrown(parts, readings, update)) {
    growAll(parts, readings, update, report);
    return parts;
  }
  const { findings, streamRate, lastSeenMs, forgetBeforeMs } = update;
  const isRemembered = ({ departedMs = Infinity }: PartAccount): boolean => departedMs > forgetBeforeMs;
  const known = listParts(parts, lastSeenMs).filter(isRemembered);
  const matches = matchParts(known, readings, update);
  const present: PartAccount[] = [];
  for (const [index, reading] of readings.entries()) {
    const { bytes } = reading;
    const part = matches[index];
    const rate = computeStreamRate(part?.connections ?? 0, reading, streamRate);
    if (part === undefined) {
      present.push(openPart(reading, findings));
      report(index, evaluateFirst(bytes, rate, findings));
      continue;
    }
    report(index, bytes === undefined ? 0 : evaluate(part, bytes, rate, findings));
    part.connections = reading.connections ?? 0;
    part.departedMs = undefined;
    present.push(part);
  }
  const listed = new Set(present);
  const departed = known.filter((part) => !listed.has(part));
  for (const part of departed) part.departedMs ??= lastSeenMs;
  return packParts([...present, ...departed], findings.nowMs);
}

export function openParts(readings: readonly PartReading[], findings: Findings): PartAccounts {
  const parts = readings.map((reading) => openPart(reading, findings));
  return packParts(parts, findings.nowMs);
}

/** The accounts as objects. What is in numbers was accepted when the task was last listed. */
function listParts(parts: PartAccounts, lastSeenMs: number): PartAccount[] {
  if (!areNumbers(parts)) return parts;
  const list: PartAccount[] = [];
  for (let first = 0; first < parts.length; first += NUMBERS_PER_PART) {
    list.push({
      identity: parts[first] ?? 0,
      baseBytes: parts[first + 1] ?? NO_VALUE,
      acceptedMs: lastSeenMs,
      streamRate: 0,
      bytesBeforeReset: 0,
      waitingValues: undefined,
      connections: parts[first + 2] ?? 0,
      departedMs: undefined,
    });
  }
  return list;
}

/** The reverse of {@link listParts}: numbers, if they can tell all. */
function packParts(parts: PartAccount[], lastSeenMs: number): PartAccounts {
  const isUsual = ({
    baseBytes,
    acceptedMs,
    streamRate,
    bytesBeforeReset,
    waitingValues,
    departedMs,
  }: PartAccount): boolean =>
    departedMs === undefined &&
    waitingValues === undefined &&
    streamRate === 0 &&
    bytesBeforeReset === 0 &&
    (acceptedMs === lastSeenMs || baseBytes === NO_VALUE);
  if (!parts.every(isUsual)) return parts;
  const numbers: number[] = [];
  for (const { identity, baseBytes, connections } of parts) numbers.push(identity, baseBytes, connections);
  // A copy has no spare room. `Array.from` and `flatMap` would box the numbers: three times the memory.
  return numbers.slice();
}

/** Whether the inputs of a task are its own `input_bytes`. */
export function areOwnInput([first]: PartAccounts | readonly PartReading[]): boolean {
  return (typeof first === 'object' ? first.identity : first) === OWN_INPUT;
}

/** Accounts of parts that are listed while their task is: those that have left it come last. */
export function countListed(parts: PartAccounts): number {
  if (areNumbers(parts)) return parts.length / NUMBERS_PER_PART;
  return 1 + parts.findLastIndex(({ departedMs }) => departedMs === undefined);
}

export function countDeparted(parts: PartAccounts): number {
  return areNumbers(parts) ? 0 : parts.length - countListed(parts);
}

export function listDeparted(parts: PartAccounts): readonly PartAccount[] {
  return areNumbers(parts) ? [] : parts.slice(countListed(parts));
}

/** Forgets the parts that have left their task, but those of `kept`. */
export function dropDeparted(parts: PartAccounts, kept: ReadonlySet<PartAccount>): PartAccounts {
  if (areNumbers(parts)) return parts;
  return parts.filter((part) => part.departedMs === undefined || kept.has(part));
}

export function areNumbers(parts: PartAccounts): parts is number[] {
  return typeof parts[0] !== 'object';
}

/** Whether the accounts are those of the readings, of different identities, and all values grew by rule 1. */
function haveAllGrown(parts: number[], readings: readonly PartReading[], update: PartsUpdate): boolean {
  if (parts.length !== NUMBERS_PER_PART * readings.length) return false;
  const streamBytes = computeCarriedBytes(
    update.streamRate,
    measureAgeMs(update.lastSeenMs, update.findings),
  );
  let first = 0;
  let lastIdentity = Number.NaN;
  for (const { identity, bytes = NO_VALUE, connections = 0 } of readings) {
    if (identity !== parts[first] || identity === lastIdentity) return false;
    const baseBytes = parts[first + 1] ?? NO_VALUE;
    const streams = 1 + Math.max(connections, parts[first + 2] ?? 0);
    if (bytes < baseBytes || bytes - baseBytes > streams * streamBytes) return false;
    if (baseBytes === NO_VALUE && bytes !== NO_VALUE) return false;
    lastIdentity = identity;
    first += NUMBERS_PER_PART;
  }
  return true;
}

function growAll(
  parts: number[],
  readings: readonly PartReading[],
  { findings }: PartsUpdate,
  report: ReportIncrease,
): void {
  for (const [index, { bytes = NO_VALUE, connections = 0 }] of readings.entries()) {
    const first = NUMBERS_PER_PART * index;
    const increasedBytes = bytes - (parts[first + 1] ?? NO_VALUE);
    if (increasedBytes > 0) findings.changedCount += 1;
    parts[first + 1] = bytes;
    parts[first + 2] = connections;
    report(index, increasedBytes);
  }
}

function openPart({ identity, bytes, connections = 0 }: PartReading, findings: Findings): PartAccount {
  return { identity, ...openAccount(bytes, findings), connections, departedMs: undefined };
}

/** An output delivers one stream to each connection, before or now, and one that can have come and gone. */
function computeStreamRate(
  connectionsBefore: number,
  { connections = 0 }: PartReading,
  rate: number,
): number {
  return rate * (1 + Math.max(connectionsBefore, connections));
}

function continuesPart(
  part: PartAccount,
  reading: PartReading,
  { findings, streamRate }: PartsUpdate,
): boolean {
  const rate = computeStreamRate(part.connections, reading, streamRate);
  return reading.bytes !== undefined && isGrowth(part, reading.bytes, rate, findings);
}

/** The accounts of one identity, the largest first. */
interface Namesakes {
  /** Those that are larger than a value that was matched: they do not continue a smaller one. */
  readonly larger: PartAccount[];
  readonly others: PartAccount[];
}

/**
 * The account of each reading, `undefined` for a new part. Within an identity, each value, the largest first,
 * is matched with the largest account that it continues. Then the largest of the values that are left is
 * matched with the largest account that is left, and so on.
 */
function matchParts(
  parts: readonly PartAccount[],
  readings: readonly PartReading[],
  update: PartsUpdate,
): readonly (PartAccount | undefined)[] {
  const groups = groupByIdentity(parts);
  const continued = readings.map((reading) => takeContinued(groups.get(reading.identity), reading, update));
  return readings.map(({ identity }, index) => {
    const group = groups.get(identity);
    return continued[index] ?? group?.larger.shift() ?? group?.others.shift();
  });
}

/** Removes and returns the largest account that a value continues. */
function takeContinued(
  group: Namesakes | undefined,
  reading: PartReading,
  update: PartsUpdate,
): PartAccount | undefined {
  if (group === undefined) return undefined;
  const { larger, others } = group;
  const { bytes = NO_VALUE } = reading;
  let [next] = others;
  while (next !== undefined && next.baseBytes > bytes) {
    larger.push(next);
    others.shift();
    [next] = others;
  }
  return next !== undefined && continuesPart(next, reading, update) ? others.shift() : undefined;
}

function groupByIdentity(parts: readonly PartAccount[]): ReadonlyMap<number, Namesakes> {
  const groups = new Map<number, Namesakes>();
  for (const part of parts.toSorted((a, b) => b.baseBytes - a.baseBytes)) {
    const group = groups.get(part.identity);
    if (group === undefined) groups.set(part.identity, { larger: [], others: [part] });
    else group.others.push(part);
  }
  return groups;
}
