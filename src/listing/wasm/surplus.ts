import { addU32, allocate, fillBytes } from './memory';

/** What was beyond a limit; the host has the names in the same order. */
export const enum Surplus {
  TASK = 0,
  INPUT = 1,
  OUTPUT = 2,
  STREAM = 3,
  LABEL_SET = 4,
  LABEL_VALUE = 5,
}

const KINDS: usize = 6;

/** Counts by kind, each a u32. */
export const surplus = allocate(KINDS * 4);

export function clearSurplus(): void {
  fillBytes(surplus, 0, KINDS * 4);
}

export function countSurplus(kind: u32): void {
  addU32(surplus + <usize>kind * 4, 1);
}
