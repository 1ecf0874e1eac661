import { areTextsEqual } from './hashing';
import { hasField, lengthOf, textOf } from './fields';
import { isPolledCode } from './host';
import { allocate, BLOCK } from './memory';
import { isAscii } from './strings';
import { ESCAPED, LENGTH_BITS } from './texts';

/** Longest polled code, in bytes, that is compared here. */
const MAX_CODE_BYTES: u32 = 1024;

/** The polled service code as UTF-8. */
export const polledCode = allocate(<usize>MAX_CODE_BYTES + BLOCK);
let polledCodeLength: u32 = 0;

export function setPolledCodeLength(length: u32): void {
  polledCodeLength = length;
}

/** Whether the last object of a type has a service code other than the polled one. */
export function isForeign(type: usize, field: usize): bool {
  if (!hasField(type, field)) return false;
  const flagged = lengthOf(field);
  const text = textOf(field);
  if (flagged == polledCodeLength && areTextsEqual(text, polledCode, flagged)) return false;
  const length = flagged & LENGTH_BITS;
  // The host compares with a polled code that is too long for this module.
  if (polledCodeLength > 0 && (flagged & ESCAPED) == 0 && isAscii(text, length)) return true;
  return !isPolledCode(text, length);
}
