import { rejectedOf, rowsOf, truncateRows } from './columns';
import { addU32, allocate, writeU32 } from './memory';

/* Elements of the lists of a body that are rejected: they leave no rows, but are counted. */

/** Why an element was rejected; the host has the reasons in the same order. */
export const enum Reason {
  NOT_AN_OBJECT = 0,
  MISSING_FIELD = 1,
  WRONG_TYPE = 2,
  TOO_LONG = 3,
}

/** The first rejected elements: record type, reason, and number of the element. */
export const firstRejected = allocate(12 * 5);
export let firstRejectedCount: u32 = 0;
const MAX_FIRST_REJECTED: u32 = 5;

export function clearRejected(): void {
  firstRejectedCount = 0;
}

/** Rejects the element that was read last, with its parts; `entry` is its number. */
export function reject(type: usize, entry: u32, reason: u32): void {
  truncateRows(type, rowsOf(type));
  addU32(rejectedOf(type) + ((<usize>reason) << 2), 1);
  if (firstRejectedCount == MAX_FIRST_REJECTED) return;
  const rejected = firstRejected + <usize>firstRejectedCount * 12;
  writeU32(rejected, <u32>type);
  writeU32(rejected + 4, reason);
  writeU32(rejected + 8, entry);
  firstRejectedCount += 1;
}
