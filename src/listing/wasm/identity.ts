import { decodeText } from './host';
import { readByte, readU16 } from './memory';
import { reserveScratch } from './scratch';
import { isAscii } from './strings';
import { ESCAPED, LENGTH_BITS } from './texts';

/*
 * A 53-bit hash of a list of texts, which identifies an input or an output within its task: the function of
 * `text-hash.ts`. State files hold such hashes.
 */

let low: u32 = 0;
let high: u32 = 0;

export function beginIdentity(): void {
  low = 0;
  high = 0x41c6ce57;
}

/** Adds a text of the window; a missing one has length 0. */
export function addIdentityText(text: usize, flagged: u32): void {
  const length = flagged & LENGTH_BITS;
  if (length > 0) {
    if ((flagged & ESCAPED) == 0 && isAscii(text, length)) addBytes(text, length);
    else addDecoded(text, length);
  }
  addUnit(0x10000);
}

export function endIdentity(): f64 {
  const mixedLow = ((low ^ (low >>> 16)) * 0x85ebca6b) ^ ((high ^ (high >>> 13)) * 0xc2b2ae35);
  const mixedHigh = ((high ^ (high >>> 16)) * 0x85ebca6b) ^ ((low ^ (low >>> 13)) * 0xc2b2ae35);
  return <f64>(mixedHigh >>> 11) * 4294967296.0 + <f64>mixedLow;
}

function addUnit(unit: u32): void {
  low = (low ^ unit) * 0x9e3779b1;
  high = (high ^ unit) * 0x5f356495;
}

function addBytes(text: usize, length: u32): void {
  // Local variables stay in registers.
  let a = low;
  let b = high;
  for (let index: usize = 0; index < length; index += 1) {
    const unit = readByte(text + index);
    a = (a ^ unit) * 0x9e3779b1;
    b = (b ^ unit) * 0x5f356495;
  }
  low = a;
  high = b;
}

function addDecoded(text: usize, length: u32): void {
  const units = reserveScratch(length);
  const count = decodeText(text, length, units);
  for (let index: usize = 0; index < count; index += 1) addUnit(readU16(units + 2 * index));
}
