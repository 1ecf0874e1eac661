import type { PartReading } from '../../listing/listing-sink.ts';

/*
 * The accounts of a task's outputs, or of its inputs, are plain numbers in one array: that takes a third of the memory
 * of objects. Present parts have two numbers each, in the order of their readings; departed ones have three.
 */

/** Numbers per present part: its identity and its bytes. */
export const NUMBERS_PER_PART = 2;
/** Numbers per departed part: its identity, its bytes, and when it was last seen in monotonic milliseconds. */
export const NUMBERS_PER_DEPARTED_PART = 3;
/** The bytes of a part that has never had a valid value. */
export const NO_VALUE = -1;

/** The account of one part before this listing. */
export interface PreviousPart {
  /** `NO_VALUE` if it has had no valid value, so that the first one is its baseline. */
  readonly bytes: number;
  /** Monotonic milliseconds; `undefined` if it was in the last good listing that held its task. */
  readonly lastSeenMs: number | undefined;
}

/** Accounts after the readings of a listing were matched with them. */
export interface MatchedParts {
  readonly present: number[];
  readonly departed: number[];
  /** By the index of the reading; `undefined` for a new part. */
  readonly previous: readonly (PreviousPart | undefined)[];
}

/** Whether the present parts are exactly those of the readings, without two equal identities: the usual case. */
export function hasSameParts(present: readonly number[], readings: readonly PartReading[]): boolean {
  if (present.length !== NUMBERS_PER_PART * readings.length) return false;
  let last = Number.NaN;
  for (let index = 0; index < readings.length; index += 1) {
    const identity = readings[index]?.identity;
    if (identity === undefined || identity === last || present[NUMBERS_PER_PART * index] !== identity)
      return false;
    last = identity;
  }
  return true;
}

/** The present parts for readings without accounts. */
export function createParts(readings: readonly PartReading[]): number[] {
  const present: number[] = [];
  for (const { identity, bytes } of readings) present.push(identity, bytes ?? NO_VALUE);
  // A copy has no spare room. `Array.from` and `flatMap` would make an array of objects, which takes three times the memory.
  return present.slice();
}

interface Part extends PreviousPart {
  readonly identity: number;
}

/**
 * Matches readings with accounts of the same identity. Among several, each value, the largest first, continues the
 * account with the largest value that it does not fall below; values that are left are resets of accounts that are left.
 *
 * @param readings - sorted by `comparePartReadings`.
 * @param lastSeenMs - when the present parts were last seen.
 * @param forgetBeforeMs - departed parts last seen by then are forgotten.
 */
export function matchParts(
  { present, departed }: { readonly present: readonly number[]; readonly departed: readonly number[] },
  readings: readonly PartReading[],
  lastSeenMs: number,
  forgetBeforeMs: number,
): MatchedParts {
  const accounts = groupByIdentity([
    ...readDeparted(departed).filter((part) => part.lastSeenMs > forgetBeforeMs),
    ...readPresent(present),
  ]);
  const matched = createParts(readings);
  const previous: (PreviousPart | undefined)[] = readings.map(() => undefined);
  for (const [first, group] of groupReadings(readings)) {
    const identity = group[0]?.identity ?? 0;
    const candidates = accounts.get(identity);
    if (candidates === undefined) continue;
    accounts.set(
      identity,
      matchGroup(group, candidates, (index, part) => {
        previous[first + index] = part;
        if (group[index]?.bytes === undefined) matched[NUMBERS_PER_PART * (first + index) + 1] = part.bytes;
      }),
    );
  }
  const left = [...accounts.values()]
    .flat()
    .toSorted((a, b) => (a.lastSeenMs ?? lastSeenMs) - (b.lastSeenMs ?? lastSeenMs));
  const stillDeparted = left.flatMap((part) => [part.identity, part.bytes, part.lastSeenMs ?? lastSeenMs]);
  return { present: matched, departed: stillDeparted, previous };
}

/** Matches readings of one identity, the largest first; returns the accounts that are left. */
function matchGroup(
  readings: readonly PartReading[],
  accounts: readonly Part[],
  match: (index: number, part: Part) => void,
): Part[] {
  const candidates = accounts.toSorted((a, b) => b.bytes - a.bytes);
  const left: Part[] = [];
  const unmatched: number[] = [];
  let next = 0;
  for (const [index, { bytes }] of readings.entries()) {
    const value = bytes ?? Number.POSITIVE_INFINITY;
    for (; (candidates[next]?.bytes ?? 0) > value; next += 1) left.push(...candidates.slice(next, next + 1));
    const part = bytes === undefined ? undefined : candidates[next];
    if (part === undefined) {
      unmatched.push(index);
      continue;
    }
    match(index, part);
    next += 1;
  }
  left.push(...candidates.slice(next));
  // Present accounts first: a departed one is less likely to be the one that was reset.
  const resettable = [...left.filter(isPresent), ...left.filter((part) => !isPresent(part))];
  for (const [position, index] of unmatched.entries()) {
    const part = resettable[position];
    if (part !== undefined) match(index, part);
  }
  return resettable.slice(unmatched.length);
}

const isPresent = ({ lastSeenMs }: Part): boolean => lastSeenMs === undefined;

function groupByIdentity(parts: readonly Part[]): Map<number, Part[]> {
  const groups = new Map<number, Part[]>();
  for (const part of parts) {
    const group = groups.get(part.identity);
    if (group === undefined) groups.set(part.identity, [part]);
    else group.push(part);
  }
  return groups;
}

/** The runs of readings that share an identity, each with the index of its first. */
function* groupReadings(
  readings: readonly PartReading[],
): Generator<readonly [number, readonly PartReading[]], void> {
  let first = 0;
  for (let end = 1; end <= readings.length; end += 1) {
    if (readings[end]?.identity === readings[first]?.identity && end < readings.length) continue;
    yield [first, readings.slice(first, end)];
    first = end;
  }
}

function readPresent(present: readonly number[]): Part[] {
  const parts: Part[] = [];
  for (let at = 0; at < present.length; at += NUMBERS_PER_PART) {
    parts.push({ identity: present[at] ?? 0, bytes: present[at + 1] ?? NO_VALUE, lastSeenMs: undefined });
  }
  return parts;
}

function readDeparted(departed: readonly number[]): (Part & { readonly lastSeenMs: number })[] {
  const parts: (Part & { readonly lastSeenMs: number })[] = [];
  for (let at = 0; at < departed.length; at += NUMBERS_PER_DEPARTED_PART) {
    const [identity = 0, bytes = NO_VALUE, lastSeenMs = 0] = departed.slice(
      at,
      at + NUMBERS_PER_DEPARTED_PART,
    );
    parts.push({ identity, bytes, lastSeenMs });
  }
  return parts;
}
