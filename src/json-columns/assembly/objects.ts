import {
  addRow,
  beginRow,
  canAddRow,
  endRow,
  firstRowOf,
  setText,
  truncateRows,
  writeDouble,
  writeIdentity,
  writeList,
  writeRange,
  writeWord,
} from './columns';
import { Expected, fail } from './failure';
import { addIdentityText, beginIdentity, endIdentity } from './identity';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LETTER_N,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  ZERO,
} from './json-bytes';
import { findKnownKey, findLabel, findSchemeLabel, NO_LABEL } from './labels';
import { readByte, readU64 } from './memory';
import { isNumberStart, isPlainNumber, numberValue, readNumber, skipLiteral } from './numbers';
import { skipValue } from './skip';
import { findClosingQuote, skipPlain, skipSpace } from './strings';
import { compareWithMatch, ESCAPED, NUMERIC } from './texts';
import { Field, findEscapedField, findField, isKeyAt, isNone, Kind, RecordType } from './types';

/*
 * Reads the objects of one record type into the next row of its columns. A field of the wrong type or out of
 * range counts as missing, as `null` does. Unknown fields are skipped; the last of duplicate keys wins.
 */

const MAX_SAFE_INTEGER: f64 = 9007199254740991;

/** The field for the last key; none for an unknown one. */
let currentField = changetype<Field>(0);

/** Validity of the last value of an unusual form. */
const enum Validity {
  VALID = 0,
  MISSING = 1,
  INVALID = 2,
}

let validity: u32 = Validity.VALID;

/** Reads an object into a row that does not count yet; `from` is its opening brace. */
export function readObject(type: RecordType, from: usize): usize {
  const row = beginRow(type);
  // Bit sets of fields, as local variables: these stay in registers.
  let present: u32 = 0;
  let invalid: u32 = 0;
  let at = skipSpace(from + 1);
  let lastField: Field = type;
  let byte = readByte(at);
  while (byte != CLOSE_BRACE) {
    let field = lastField.follower;
    if (isKeyAt(field, at)) {
      at += field.keyLength;
    } else {
      at = readKey(type, at);
      if (at == 0) return 0;
      field = currentField;
      if (!isNone(field)) lastField.follower = field;
    }
    at = skipSpace(at);
    if (isNone(field)) {
      at = skipValue(at);
    } else {
      lastField = field;
      const bit = field.bit;
      present |= bit;
      invalid &= ~bit;
      const end = readUsualValue(field, row, at);
      if (end != 0) {
        at = end;
      } else {
        at = readUnusualValue(field, row, at);
        if (validity == Validity.MISSING) present &= ~bit;
        else if (validity == Validity.INVALID) invalid |= bit;
      }
    }
    if (at == 0) return 0;
    at = skipSpace(at);
    byte = readByte(at);
    if (byte == COMMA) at = skipSpace(at + 1);
    else if (byte != CLOSE_BRACE) return fail(at, Expected.COMMA_OR_BRACE);
  }
  endRow(type, row, present & ~invalid, invalid);
  if (!isNone(type.firstOfIdentity)) identify(type, row);
  return at + 1;
}

function identify(type: RecordType, row: u32): void {
  beginIdentity();
  for (let field = type.firstOfIdentity; !isNone(field); field = field.nextOfIdentity) {
    addIdentityText(field.text, field.textLength);
  }
  writeIdentity(type, row, endIdentity());
}

/** Reads a key other than the expected one, and its colon; sets `currentField`. */
function readKey(type: RecordType, at: usize): usize {
  if (readByte(at) != QUOTE) return fail(at, Expected.KEY);
  const plainEnd = skipPlain(at + 1);
  const quote = findClosingQuote(plainEnd);
  if (quote == 0) return 0;
  const colon = skipSpace(quote + 1);
  if (readByte(colon) != COLON) return fail(colon, Expected.COLON);
  currentField =
    quote == plainEnd
      ? findField(type, at, <u32>(quote + 1 - at))
      : findEscapedField(type, at + 1, <u32>(quote - at - 1));
  return colon + 1;
}

/** Reads a plain, non-empty string or an integer of up to eight digits; returns 0 at any other value. */
function readUsualValue(field: Field, row: u32, at: usize): usize {
  const kind = field.kind;
  const first = readByte(at);
  if (first == QUOTE) {
    if ((kind & (Kind.TEXT | Kind.UNUSED)) == 0) return 0;
    const end = skipPlain(at + 1);
    if (readByte(end) != QUOTE || end == at + 1) return 0;
    if ((kind & Kind.UNUSED) == 0) writeUsualText(field, kind, row, at + 1, <u32>(end - at - 1));
    return end + 1;
  }
  return (kind & (Kind.NUMBER | Kind.UNUSED)) != 0 ? readShortInteger(field, kind, row, at) : 0;
}

const ZEROS: u64 = 0x3030303030303030;

function readShortInteger(field: Field, kind: u32, row: u32, at: usize): usize {
  const word = readU64(at);
  const digits = countDigits(word);
  const end = at + digits;
  if (digits == 0 || (digits > 1 && readByte(at) == ZERO)) return 0;
  const next = readByte(end);
  if (next != COMMA && next != CLOSE_BRACE) return 0;
  if ((kind & Kind.VALUE) != 0) writeDouble(field, row, <f64>parseDigits(word, digits));
  else if ((kind & Kind.LABEL) != 0) writeUsualText(field, kind, row, at, digits);
  return end;
}

/** Counts the digits at the start of eight bytes. */
function countDigits(word: u64): u32 {
  const digits = word ^ ZEROS;
  const others = ((digits + 0x7676767676767676) | digits) & 0x8080808080808080;
  return others == 0 ? 8 : <u32>(ctz(others) >>> 3);
}

/** Value of the first `count` of eight digits, computed pairwise. */
function parseDigits(word: u64, count: u32): u64 {
  const shift: u64 = (8 - count) << 3;
  let value = (word ^ ZEROS) << shift;
  value = (value * 10 + (value >>> 8)) & 0x00ff00ff00ff00ff;
  value = (value * 100 + (value >>> 16)) & 0x0000ffff0000ffff;
  return (value * 10000 + (value >>> 32)) & 0xffffffff;
}

function writeText(field: Field, kind: u32, row: u32, text: usize, flagged: u32): void {
  if ((kind & Kind.LABEL) != 0) {
    writeWord(field, row, findLabel(text, flagged, 0, field));
  } else if ((kind & Kind.MATCH) != 0) {
    writeWord(field, row, compareWithMatch(text, flagged));
  } else if ((kind & Kind.SCHEME) != 0) {
    writeWord(field, row, findSchemeLabel(text, flagged, field));
  } else if ((kind & Kind.RANGE) != 0) {
    writeRange(field, row, text, flagged);
  }
  if ((kind & Kind.IDENTITY) != 0) setText(field, text, flagged);
}

/** Nearly all texts are labels of up to 16 bytes that the table has. */
function writeUsualText(field: Field, kind: u32, row: u32, text: usize, length: u32): void {
  const id = (kind & Kind.LABEL) != 0 && length <= 16 ? findKnownKey(text, length) : NO_LABEL;
  if (id == NO_LABEL) return writeText(field, kind, row, text, length);
  writeWord(field, row, id);
  if ((kind & Kind.IDENTITY) != 0) setText(field, text, length);
}

/** Reads a value of any other form; sets `validity`. */
function readUnusualValue(field: Field, row: u32, at: usize): usize {
  const kind = field.kind;
  const first = readByte(at);
  let end: usize;
  let result: u32 = Validity.VALID;
  if ((kind & Kind.UNUSED) != 0) {
    end = skipValue(at);
  } else if (first == QUOTE && (kind & Kind.TEXT) != 0) {
    const isMissing = readByte(at + 1) == QUOTE && (kind & Kind.EMPTY_TEXT) != Kind.EMPTY_TEXT;
    end = isMissing ? at + 2 : readText(field, kind, row, at);
    if (isMissing) result = Validity.MISSING;
  } else if (isNumberStart(first) && (kind & Kind.NUMBER) != 0) {
    end = readNumberField(field, kind, row, at);
    if (!isValid(kind, numberValue)) result = Validity.INVALID;
  } else if (first == OPEN_BRACKET && (kind & Kind.LIST) != 0) {
    end = readList(field, row, skipSpace(at + 1));
  } else if (first == LETTER_N) {
    end = skipLiteral(at);
    result = Validity.MISSING;
  } else {
    end = skipValue(at);
    result = Validity.INVALID;
  }
  // A list within the value has set it, too.
  validity = result;
  return end;
}

function readText(field: Field, kind: u32, row: u32, at: usize): usize {
  const plainEnd = skipPlain(at + 1);
  const quote = findClosingQuote(plainEnd);
  if (quote == 0) return 0;
  const length = <u32>(quote - at - 1);
  writeText(field, kind, row, at + 1, quote == plainEnd ? length : length | ESCAPED);
  return quote + 1;
}

function readNumberField(field: Field, kind: u32, row: u32, at: usize): usize {
  const end = readNumber(at, false);
  if (end == 0) return 0;
  if ((kind & Kind.VALUE) != 0) writeDouble(field, row, numberValue);
  else if (isValid(kind, numberValue))
    writeNumberLabel(field, row, at, isPlainNumber ? <u32>(end - at) : NUMERIC);
  return end;
}

function writeNumberLabel(field: Field, row: u32, text: usize, flagged: u32): void {
  writeWord(field, row, findLabel(text, flagged, numberValue, field));
}

function isValid(kind: u32, value: f64): bool {
  if ((kind & Kind.NOT_NEGATIVE) == Kind.NOT_NEGATIVE && value < 0) return false;
  if ((kind & Kind.INTEGER) == Kind.INTEGER) return trunc(value) == value && abs(value) <= MAX_SAFE_INTEGER;
  return value < Infinity;
}

/** Reads the elements of a list and its closing bracket. A list that occurs twice replaces the first one. */
function readList(field: Field, parent: u32, from: usize): usize {
  const type = field.child;
  const start = firstRowOf(field, parent);
  const limit = field.limit;
  truncateRows(type, start);
  let surplus: u32 = 0;
  let rejected: u32 = 0;
  let at = from;
  let byte = readByte(at);
  if (byte == CLOSE_BRACKET) at += 1;
  while (byte != CLOSE_BRACKET) {
    if (readByte(at) != OPEN_BRACE) {
      rejected += 1;
      at = skipValue(at);
    } else {
      at = readObject(type, at);
      if (type.rows - start < limit && canAddRow()) {
        addRow(type);
      } else {
        surplus += 1;
        truncateRows(type, type.rows);
      }
    }
    if (at == 0) return 0;
    at = skipSpace(at);
    byte = readByte(at);
    if (byte == COMMA) at = skipSpace(at + 1);
    else if (byte == CLOSE_BRACKET) at += 1;
    else return fail(at, Expected.COMMA_OR_BRACKET);
  }
  if (rejected > 0) type.hasInvalid = true;
  writeList(field, parent, type.rows, surplus, rejected);
  return at;
}
