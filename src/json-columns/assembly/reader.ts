import {
  addRow,
  areColumnsConsistent,
  canAddRow,
  clearColumns,
  clearRows,
  lastInvalidOf,
  lastValidOf,
  truncateRows,
  writeEntry,
} from './columns';
import { Expected, fail, failedAt, windowEnd } from './failure';
import { maxEntryBytes, noteRejected, takeBatch, takeScalar } from './host';
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes';
import { areLabelsConsistent, beginSurplus, clearSurplus, commitSurplus, trimLabels } from './labels';
import { addU32, areGuardsIntact, readByte } from './memory';
import { isNumberStart, readNumber } from './numbers';
import { readObject } from './objects';
import { beginSkip, resumeAt, skip, skipValue } from './skip';
import { findClosingQuote, skipPlain, skipSpace, skipString } from './strings';
import { setMatchLength } from './texts';
import { Field, findEscapedField, findField, isNone, Kind, RecordType, root } from './types';
import { addSlice, beginRead, clearWindow, endRead, windowLength, windowOffset, windowStart } from './window';

export { allocatedBytes } from './memory';
export { expectation } from './failure';
export { setKey } from './hashing';
export { setLimits } from './host';
export { surplusLabels } from './labels';
export { matchText } from './texts';
export { reserveSlice, windowOffset } from './window';
export { addField, addIdentityField, createType, keyBuffer, root } from './types';
export { capacityOf, columnAt, droppedOf, firstEntryOf, hasInvalid, layout, rowsOf } from './columns';

/*
 * The structure of a body: an object with lists of records, which arrives in slices cut at any byte. A unit,
 * an element of a list, a member or a separator, is read completely or, with the next slice, again. Unused
 * values are skipped, which can stop at any byte.
 */

const enum State {
  START = 0,
  FIRST_MEMBER = 1,
  MEMBER = 2,
  AFTER_MEMBER = 3,
  FIRST_ELEMENT = 4,
  ELEMENT = 5,
  AFTER_ELEMENT = 6,
  SKIPPED_MEMBER = 7,
  SKIPPED_ELEMENT = 8,
  SKIPPED_BODY = 9,
  END = 10,
}

/** Results of `write` and `end`. The host has the same numbers. */
const enum Outcome {
  GOOD = 0,
  NOT_JSON = 1,
  /** At the end: `shapeError`, or a member is not in `seenMembers`. */
  BAD_SHAPE = 2,
  TOKEN_TOO_LONG = 3,
  INCOMPLETE = 4,
}

/** Why JSON is no body of the table. The host has the words in the same order. */
const enum ShapeError {
  NONE = 0,
  BODY = 1,
  DUPLICATE_MEMBER = 2,
  LIST = 3,
  SCALAR = 4,
}

/** Why an element leaves no rows. The host has the reasons in the same order. */
const enum Reason {
  NOT_AN_OBJECT = 0,
  MISSING_FIELD = 1,
  WRONG_TYPE = 2,
  TOO_LONG = 3,
  BEYOND_LIMIT = 4,
}

let state: u32 = State.START;
let listType: RecordType = root;
/** Elements of all lists so far. */
let entries: u32 = 0;
/** Rejected elements that the host knows. */
let notedCount: u32 = 0;
const MAX_NOTED: u32 = 5;
/** Start of the current unit. */
let unitStart: usize = 0;
/** Bit set of the members that have been read. */
export let seenMembers: u32 = 0;
/** The first error of the shape. It counts at the end only: a syntax error takes precedence. */
export let shapeError: u32 = ShapeError.NONE;
export let shapeErrorMember: u32 = 0;
export let shapeErrorOffset: f64 = 0;

/** `matchText` holds the text to compare with. Returns whether the host must forget its label ids. */
export function begin(matchLength: u32): bool {
  setMatchLength(matchLength);
  clearWindow();
  clearColumns();
  clearSurplus();
  entries = 0;
  notedCount = 0;
  state = State.START;
  seenMembers = 0;
  shapeError = ShapeError.NONE;
  return trimLabels();
}

/** Reads a slice of the body that the host has put at `reserveSlice()`. */
export function write(bytes: usize): u32 {
  return addSlice(bytes) ? read(false) : Outcome.GOOD;
}

export function end(): u32 {
  const outcome = read(true);
  if (outcome != Outcome.GOOD) return outcome;
  if (state != State.END) return Outcome.INCOMPLETE;
  const hasAllMembers = seenMembers == (1 << root.fieldCount) - 1;
  return shapeError != ShapeError.NONE || !hasAllMembers ? Outcome.BAD_SHAPE : Outcome.GOOD;
}

/** Bytes of the body that have arrived. */
export function receivedBytes(): f64 {
  return windowOffset + <f64>windowLength;
}

/** Offset of the byte that is not JSON. */
export function failureOffset(): f64 {
  return windowOffset + <f64>(failedAt - windowStart);
}

export function failureByte(): u32 {
  return readByte(failedAt);
}

/** Whether an element was read since the host took the last batch. */
let hasBatch: bool = false;

/** Reads all complete units and keeps the rest. */
function read(isLast: bool): u32 {
  beginRead();
  const rest = readUnits(windowStart, isLast);
  if (rest == 0) return Outcome.NOT_JSON;
  if (!ASC_NO_ASSERT) assert(areGuardsIntact() && areLabelsConsistent() && areColumnsConsistent());
  if (hasBatch) {
    takeBatch();
    hasBatch = false;
  }
  clearRows();
  const restLength = endRead(rest);
  return restLength > maxEntryBytes ? dropOversizedUnit() : Outcome.GOOD;
}

/** Returns the start of the incomplete unit; 0 where the text is not JSON. */
function readUnits(from: usize, isLast: bool): usize {
  let at = from;
  while (true) {
    unitStart = at;
    at = readUnit(at, isLast);
    if (at != 0) continue;
    if (failedAt < windowEnd) return 0;
    return isSkipping() ? resumeAt : unitStart;
  }
}

function isSkipping(): bool {
  return state == State.SKIPPED_MEMBER || state == State.SKIPPED_ELEMENT || state == State.SKIPPED_BODY;
}

function readUnit(from: usize, isLast: bool): usize {
  if (state == State.SKIPPED_MEMBER) return skipTo(State.AFTER_MEMBER, from, isLast);
  if (state == State.SKIPPED_ELEMENT) return skipTo(State.AFTER_ELEMENT, from, isLast);
  if (state == State.SKIPPED_BODY) return skipTo(State.END, from, isLast);
  const at = skipSpace(from);
  const byte = readByte(at);
  switch (state) {
    case State.START:
      return readStart(at, byte);
    case State.FIRST_MEMBER:
      return byte == CLOSE_BRACE ? proceed(State.END, at + 1) : readMember(at, byte);
    case State.MEMBER:
      return readMember(at, byte);
    case State.AFTER_MEMBER:
      if (byte == CLOSE_BRACE) return proceed(State.END, at + 1);
      return byte == COMMA ? proceed(State.MEMBER, at + 1) : fail(at, Expected.COMMA_OR_BRACE);
    case State.FIRST_ELEMENT:
      return byte == CLOSE_BRACKET ? proceed(State.AFTER_MEMBER, at + 1) : readElements(at);
    case State.ELEMENT:
      return readElements(at);
    case State.AFTER_ELEMENT:
      if (byte == CLOSE_BRACKET) return proceed(State.AFTER_MEMBER, at + 1);
      return byte == COMMA ? proceed(State.ELEMENT, at + 1) : fail(at, Expected.COMMA_OR_BRACKET);
    default:
      return fail(at, Expected.END);
  }
}

function proceed(to: u32, at: usize): usize {
  state = to;
  return at;
}

function beginSkipTo(to: u32, at: usize): usize {
  beginSkip();
  return proceed(to, at);
}

function skipTo(to: u32, from: usize, isLast: bool): usize {
  const at = skip(from, isLast);
  return at == 0 ? 0 : proceed(to, at);
}

function readStart(at: usize, byte: u32): usize {
  if (at == windowEnd) return fail(at, Expected.VALUE);
  if (byte == OPEN_BRACE) return proceed(State.FIRST_MEMBER, at + 1);
  noteShapeError(ShapeError.BODY, 0, at);
  return beginSkipTo(State.SKIPPED_BODY, at);
}

function readMember(at: usize, byte: u32): usize {
  if (byte != QUOTE) return fail(at, Expected.KEY);
  const plainEnd = skipPlain(at + 1);
  const quote = findClosingQuote(plainEnd);
  if (quote == 0) return 0;
  const colon = skipSpace(quote + 1);
  if (readByte(colon) != COLON) return fail(colon, Expected.COLON);
  const value = skipSpace(colon + 1);
  if (value == windowEnd) return fail(value, Expected.VALUE);
  const member =
    quote == plainEnd
      ? findField(root, at, <u32>(quote + 1 - at))
      : findEscapedField(root, at + 1, <u32>(quote - at - 1));
  if (isNone(member)) return beginSkipTo(State.SKIPPED_MEMBER, value);
  if ((seenMembers & member.bit) != 0) {
    // The records of the first one are added up already, so the last one cannot win.
    noteShapeError(ShapeError.DUPLICATE_MEMBER, member.bit, value);
    return beginSkipTo(State.SKIPPED_MEMBER, value);
  }
  return (member.kind & Kind.LIST) != 0 ? beginList(member, value) : readScalar(member, value);
}

function beginList(member: Field, at: usize): usize {
  seenMembers |= member.bit;
  if (readByte(at) == OPEN_BRACKET) {
    listType = member.child;
    listType.firstEntry = entries;
    return proceed(State.FIRST_ELEMENT, at + 1);
  }
  noteShapeError(ShapeError.LIST, member.bit, at);
  return beginSkipTo(State.SKIPPED_MEMBER, at);
}

function readScalar(member: Field, at: usize): usize {
  const first = readByte(at);
  if (first != QUOTE && !isNumberStart(first)) {
    seenMembers |= member.bit;
    noteShapeError(ShapeError.SCALAR, member.bit, at);
    return beginSkipTo(State.SKIPPED_MEMBER, at);
  }
  const tokenEnd = first == QUOTE ? skipString(at) : readNumber(at, false);
  if (tokenEnd == 0) return 0;
  seenMembers |= member.bit;
  if (!takeScalar(at, <u32>(tokenEnd - at))) noteShapeError(ShapeError.SCALAR, member.bit, tokenEnd);
  return proceed(State.AFTER_MEMBER, tokenEnd);
}

/** Reads elements and the commas after them, each a unit; nearly all of a body. */
function readElements(from: usize): usize {
  const type = listType;
  let at = from;
  while (true) {
    unitStart = at;
    at = readElement(type, at);
    if (at == 0) {
      // The parts of an incomplete element do not count.
      truncateRows(type, type.rows);
      return 0;
    }
    state = State.AFTER_ELEMENT;
    unitStart = at;
    at = skipSpace(at);
    if (readByte(at) != COMMA) return at;
    state = State.ELEMENT;
    at = skipSpace(at + 1);
  }
}

function readElement(type: RecordType, at: usize): usize {
  beginSurplus();
  const isObject = readByte(at) == OPEN_BRACE;
  const elementEnd = isObject ? readObject(type, at) : skipValue(at);
  if (elementEnd == 0) return 0;
  if (!isObject) {
    drop(type, Reason.NOT_AN_OBJECT);
  } else if (elementEnd - at > maxEntryBytes) {
    drop(type, Reason.TOO_LONG);
  } else if ((type.required & ~lastValidOf(type)) != 0) {
    const hasWrongType = (type.required & lastInvalidOf(type)) != 0;
    drop(type, hasWrongType ? Reason.WRONG_TYPE : Reason.MISSING_FIELD);
  } else if (!canAddRow()) {
    drop(type, Reason.BEYOND_LIMIT);
  } else {
    writeEntry(type, type.rows, entries);
    addRow(type);
    hasBatch = true;
  }
  commitSurplus();
  entries += 1;
  return elementEnd;
}

/** Drops the rows of the element that was read last, with its parts. */
function drop(type: RecordType, reason: u32): void {
  truncateRows(type, type.rows);
  addU32(type.dropped + ((<usize>reason) << 2), 1);
  if (reason == Reason.BEYOND_LIMIT || notedCount == MAX_NOTED) return;
  notedCount += 1;
  noteRejected(changetype<usize>(type), reason, entries);
}

/** Rejects an element that exceeds the limit. Any other unit of that length makes the body invalid. */
function dropOversizedUnit(): u32 {
  if (state != State.ELEMENT && state != State.FIRST_ELEMENT) return Outcome.TOKEN_TOO_LONG;
  drop(listType, Reason.TOO_LONG);
  entries += 1;
  beginSkip();
  state = State.SKIPPED_ELEMENT;
  return Outcome.GOOD;
}

function noteShapeError(error: u32, member: u32, at: usize): void {
  if (shapeError != ShapeError.NONE) return;
  shapeError = error;
  shapeErrorMember = member;
  shapeErrorOffset = windowOffset + <f64>(at - windowStart);
}
