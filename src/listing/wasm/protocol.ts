import { findProtocol } from './host';
import { BACKSLASH, COLON, LOWER_CASE } from './json-bytes';
import { findKey, FixedLabel, UNKNOWN } from './labels';
import { allocate, readByte, writeByte } from './memory';
import { ESCAPED, LENGTH_BITS } from './texts';

/** The longest known schemes have six letters. */
const MAX_SCHEME: u32 = 6;

const key = allocate(32);

/** Returns the label id of the protocol of an input: the scheme of its URL, a text of the window; see `input-protocol.ts`. */
export function findProtocolLabel(isPresent: bool, url: usize, flagged: u32): u32 {
  if (!isPresent) return UNKNOWN;
  const length = flagged & LENGTH_BITS;
  if (length == 0) return FixedLabel.TCP_UPLOAD;
  for (let index: u32 = 0; index <= MAX_SCHEME && index < length; index += 1) {
    const byte = readByte(url + index);
    if (byte == COLON) return index == 0 ? FixedLabel.OTHER_PROTOCOL : findSchemeLabel(index);
    if (byte == BACKSLASH) break;
    const letter = byte | LOWER_CASE;
    if (letter - 0x61 > 25) return FixedLabel.OTHER_PROTOCOL;
    writeByte(key + 1 + index, letter);
  }
  return (flagged & ESCAPED) != 0 ? findProtocol(url, length) : FixedLabel.OTHER_PROTOCOL;
}

/** The label of the scheme in `key`, which has only letters. */
function findSchemeLabel(length: u32): u32 {
  writeByte(key, 1);
  return findKey(key, length + 1, true);
}
