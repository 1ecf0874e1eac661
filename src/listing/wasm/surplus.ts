import { addU32, allocate, fillBytes, readU32 } from './memory';

/** Kinds of surplus; the host has the names in the same order. */
export const enum Surplus {
  TASK = 0,
  INPUT = 1,
  OUTPUT = 2,
  STREAM = 3,
  LABEL_SET = 4,
  LABEL_VALUE = 5,
}

const KINDS: usize = 6;

/** Counts of the listing by kind, each a u32. */
export const surplus = allocate(KINDS * 4);
/** Counts of the element being read: an element that a chunk cuts is read again. */
const pending = allocate(KINDS * 4);
let hasPending: bool = false;

export function clearSurplus(): void {
  fillBytes(surplus, 0, KINDS * 4);
}

/** Starts an element of `user_list` or `task_list`. */
export function beginSurplus(): void {
  if (!hasPending) return;
  fillBytes(pending, 0, KINDS * 4);
  hasPending = false;
}

/** Ends an element: its counts are final. */
export function commitSurplus(): void {
  if (!hasPending) return;
  for (let kind: usize = 0; kind < KINDS; kind += 1) addU32(surplus + kind * 4, readU32(pending + kind * 4));
}

export function countSurplus(kind: u32): void {
  hasPending = true;
  addU32(pending + <usize>kind * 4, 1);
}
