import { Expected, fail } from './failure';
import {
  addUnknownField,
  bitOf,
  findEscapedField,
  findField,
  followerOf,
  isKeyAt,
  keyLengthOf,
  Kind,
  kindOf,
  listOf,
  setFields,
  setFollower,
  setNumber,
  setText,
} from './fields';
import { CLOSE_BRACE, COLON, COMMA, LETTER_N, OPEN_BRACKET, QUOTE, ZERO } from './json-bytes';
import { readByte, readU64 } from './memory';
import { isNumberStart, isPlainNumber, numberValue, readNumber, skipLiteral } from './numbers';
import { skipValue } from './skip';
import { findClosingQuote, skipPlain, skipSpace } from './strings';
import { ESCAPED, NUMERIC } from './texts';

/*
 * Reads the objects of one record type. A field of the wrong type or out of range counts as missing, as `null` does.
 * Values of unknown fields are skipped, and the last of duplicate keys wins.
 */

const MAX_SAFE_INTEGER: f64 = 9007199254740991;

/** Reads a list, from behind its opening bracket; `list` says which one. */
type ListReader = (list: u32, at: usize) => usize;

let readList: ListReader = (_list: u32, _at: usize): usize => 0;

/** The reader of nested lists, which itself reads objects. */
export function setListReader(reader: ListReader): void {
  readList = reader;
}

/** The field for the last key; 0 for an unknown one without a field. */
let currentField: usize = 0;

/** Validity of the last value of an unusual form. */
const enum Validity {
  VALID = 0,
  MISSING = 1,
  INVALID = 2,
}

let validity: u32 = Validity.VALID;

/** Reads an object; `from` is its opening brace. */
export function readObject(type: usize, from: usize): usize {
  // Bit sets of fields, as local variables: these stay in registers.
  let present: u32 = 0;
  let invalid: u32 = 0;
  let at = skipSpace(from + 1);
  let lastField = type;
  let byte = readByte(at);
  while (byte != CLOSE_BRACE) {
    let field = followerOf(lastField);
    if (isKeyAt(field, at)) {
      at += keyLengthOf(field);
    } else {
      at = readKey(type, at);
      if (at == 0) return 0;
      field = currentField;
      if (field != 0) setFollower(lastField, field);
    }
    at = skipSpace(at);
    if (field == 0) {
      at = skipValue(at);
    } else {
      lastField = field;
      const bit = bitOf(field);
      present |= bit;
      invalid &= ~bit;
      const end = readUsualValue(field, at);
      if (end != 0) {
        at = end;
      } else {
        at = readUnusualValue(field, at);
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
  setFields(type, present, invalid);
  return at + 1;
}

/** Reads a key other than the expected one, and its colon; sets `currentField`. */
function readKey(type: usize, at: usize): usize {
  if (readByte(at) != QUOTE) return fail(at, Expected.KEY);
  const plainEnd = skipPlain(at + 1);
  const quote = findClosingQuote(plainEnd);
  if (quote == 0) return 0;
  const colon = skipSpace(quote + 1);
  if (readByte(colon) != COLON) return fail(colon, Expected.COLON);
  currentField =
    quote == plainEnd
      ? findOrAddField(type, at, <u32>(quote + 1 - at))
      : findEscapedField(type, at + 1, <u32>(quote - at - 1));
  return colon + 1;
}

function findOrAddField(type: usize, key: usize, length: u32): usize {
  const field = findField(type, key, length);
  return field != 0 ? field : addUnknownField(type, key, length);
}

/** Reads a plain, non-empty string or an integer of up to eight digits; returns 0 at any other value. */
function readUsualValue(field: usize, at: usize): usize {
  const kind = kindOf(field);
  const first = readByte(at);
  if (first == QUOTE) {
    if ((kind & (Kind.TEXT | Kind.UNUSED)) == 0) return 0;
    const end = skipPlain(at + 1);
    if (readByte(end) != QUOTE || end == at + 1) return 0;
    setText(field, at + 1, <u32>(end - at - 1));
    return end + 1;
  }
  return (kind & (Kind.NUMBER | Kind.UNUSED)) != 0 ? readShortInteger(field, kind, at) : 0;
}

const ZEROS: u64 = 0x3030303030303030;

function readShortInteger(field: usize, kind: u32, at: usize): usize {
  const word = readU64(at);
  const digits = countDigits(word);
  const end = at + digits;
  if (digits == 0 || (digits > 1 && readByte(at) == ZERO)) return 0;
  const next = readByte(end);
  if (next != COMMA && next != CLOSE_BRACE) return 0;
  if ((kind & Kind.NUMBER) != 0) setNumber(field, <f64>parseDigits(word, digits));
  if ((kind & Kind.TEXT) != 0) setText(field, at, digits);
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

/** Reads a value of any other form; sets `validity`. */
function readUnusualValue(field: usize, at: usize): usize {
  const kind = kindOf(field);
  const first = readByte(at);
  let end: usize;
  let result: u32 = Validity.VALID;
  if ((kind & Kind.UNUSED) != 0) {
    end = skipValue(at);
  } else if (first == QUOTE && (kind & Kind.TEXT) != 0) {
    end = readText(field, at);
    const isMissing = end == at + 2 && (kind & Kind.EMPTY_TEXT) != Kind.EMPTY_TEXT;
    if (isMissing) result = Validity.MISSING;
  } else if (isNumberStart(first) && (kind & Kind.NUMBER) != 0) {
    end = readNumberField(field, at);
    if (!isValid(kind, numberValue)) result = Validity.INVALID;
  } else if (first == OPEN_BRACKET && (kind & Kind.LIST) != 0) {
    end = readList(listOf(field), skipSpace(at + 1));
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

function readText(field: usize, at: usize): usize {
  const plainEnd = skipPlain(at + 1);
  const quote = findClosingQuote(plainEnd);
  if (quote == 0) return 0;
  const length = <u32>(quote - at - 1);
  setText(field, at + 1, quote == plainEnd ? length : length | ESCAPED);
  return quote + 1;
}

function readNumberField(field: usize, at: usize): usize {
  const end = readNumber(at, false);
  if (end == 0) return 0;
  setNumber(field, numberValue);
  setText(field, at, isPlainNumber ? <u32>(end - at) : NUMERIC);
  return end;
}

function isValid(kind: u32, value: f64): bool {
  if ((kind & Kind.NOT_NEGATIVE) == Kind.NOT_NEGATIVE && value < 0) return false;
  if ((kind & Kind.INTEGER) == Kind.INTEGER) return trunc(value) == value && abs(value) <= MAX_SAFE_INTEGER;
  return value < Infinity;
}
