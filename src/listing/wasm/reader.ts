import { Expected, fail, failedAt, windowEnd } from './failure';
import { setSeed } from './hashing';
import { takeRet } from './host';
import { beginEntries, clearInvalid, endEntry, Reason, RecordKind, reject } from './invalid';
import { CLOSE_BRACE, CLOSE_BRACKET, COLON, COMMA, OPEN_BRACE, OPEN_BRACKET, QUOTE } from './json-bytes';
import { areLabelsConsistent, trimLabels } from './labels';
import { maxEntryBytes } from './limits';
import { areGuardsIntact, readByte } from './memory';
import { findMember, Member } from './members';
import { isNumberStart, readNumber } from './numbers';
import { clearReadings } from './readings';
import { clearRecords, readTask, readUser } from './records';
import { areRowsConsistent, clearRows } from './rows';
import { beginSkip, resumeAt, skip } from './skip';
import { skipSpace, skipString } from './strings';
import { clearSurplus } from './surplus';
import { clearTaskIds } from './task-ids';
import { setPolledCodeLength } from './service-code';
import { addSlice, beginRead, clearWindow, endRead, windowLength, windowOffset, windowStart } from './window';

export { allocatedBytes } from './memory';
export { expectation } from './failure';
export { setLimits } from './limits';
export { readings, readingsUsed, clearReadings } from './readings';
export { firstRejected, firstRejectedCount, hasInvalid, invalidFields, rejected } from './invalid';
export { rows, rowCount } from './rows';
export { surplus } from './surplus';
export { foreignTasks, foreignUsers, tasks, taskType, users, userType } from './records';
export { inputType, outputType, streamType } from './parts';
export { countFields, fieldAt, keyLengthOf } from './fields';
export { polledCode } from './service-code';
export { reserveSlice } from './window';

/*
 * The structure of the body of a `task_list` response, which arrives in slices cut at any byte. A unit is read completely
 * or, with the next slice, again: an element of a list, a member, a separator. Values that are not used are skipped,
 * which can stop at any byte.
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

/** Why JSON is not a listing. The host has the words in the same order. */
const enum ShapeError {
  NONE = 0,
  BODY = 1,
  DUPLICATE_MEMBER = 2,
  LIST = 3,
  RET = 4,
}

let state: u32 = State.START;
let list: u32 = Member.OTHER;
/** Start of the current unit. */
let unitStart: usize = 0;
/** Bit set of the members that have been read. */
export let seenMembers: u32 = 0;
/** The first error of the shape, its member and its offset. It counts at the end only: a syntax error takes precedence. */
export let shapeError: u32 = ShapeError.NONE;
export let shapeErrorMember: u32 = 0;
export let shapeErrorOffset: f64 = 0;

/** Sets up a new instance. */
export function setUp(seed: u64): void {
  setSeed(seed);
}

/** Starts a listing; `polledCode` holds the service code. Returns whether the host must forget its label ids. */
export function begin(polledCodeLength: u32): bool {
  setPolledCodeLength(polledCodeLength);
  clearWindow();
  clearRecords();
  clearRows();
  clearTaskIds();
  clearReadings();
  clearInvalid();
  clearSurplus();
  state = State.START;
  seenMembers = 0;
  shapeError = ShapeError.NONE;
  return trimLabels();
}

/** Reads a slice of the body that the host has put at `reserveSlice()`. */
export function write(bytes: usize): u32 {
  return addSlice(bytes) ? read(false) : Outcome.GOOD;
}

/** Ends the body. */
export function end(): u32 {
  const outcome = read(true);
  if (outcome != Outcome.GOOD) return outcome;
  if (state != State.END) return Outcome.INCOMPLETE;
  const hasAllMembers = seenMembers == (Member.RET | Member.USER_LIST | Member.TASK_LIST);
  return shapeError != ShapeError.NONE || !hasAllMembers ? Outcome.BAD_SHAPE : Outcome.GOOD;
}

/** Bytes of the body that have arrived. */
export function receivedBytes(): f64 {
  return windowOffset + <f64>windowLength;
}

/** Bytes of the body that have been read. */
export function consumedBytes(): f64 {
  return windowOffset;
}

/** Offset of the byte that is not JSON. */
export function failureOffset(): f64 {
  return windowOffset + <f64>(failedAt - windowStart);
}

export function failureByte(): u32 {
  return readByte(failedAt);
}

/** Debug build: whether nothing wrote beyond an allocation, and the tables are consistent. */
export function isConsistent(): bool {
  return areGuardsIntact() && areLabelsConsistent() && areRowsConsistent();
}

/** Reads all complete units and keeps the rest. */
function read(isLast: bool): u32 {
  beginRead();
  const rest = readUnits(windowStart, isLast);
  if (rest == 0) return Outcome.NOT_JSON;
  const restLength = endRead(rest);
  if (!ASC_NO_ASSERT) assert(isConsistent());
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
  noteShapeError(ShapeError.BODY, Member.OTHER, at);
  return beginSkipTo(State.SKIPPED_BODY, at);
}

function readMember(at: usize, byte: u32): usize {
  if (byte != QUOTE) return fail(at, Expected.KEY);
  const keyEnd = skipString(at);
  if (keyEnd == 0) return 0;
  const colon = skipSpace(keyEnd);
  if (readByte(colon) != COLON) return fail(colon, Expected.COLON);
  const value = skipSpace(colon + 1);
  if (value == windowEnd) return fail(value, Expected.VALUE);
  const member = findMember(at + 1, keyEnd - 1);
  if (member == Member.OTHER) return beginSkipTo(State.SKIPPED_MEMBER, value);
  if ((seenMembers & member) != 0) {
    // The records of the first one are added up already, so the last one cannot win.
    noteShapeError(ShapeError.DUPLICATE_MEMBER, member, value);
    return beginSkipTo(State.SKIPPED_MEMBER, value);
  }
  return member == Member.RET ? readRet(value) : beginList(member, value);
}

function beginList(member: u32, at: usize): usize {
  seenMembers |= member;
  if (readByte(at) == OPEN_BRACKET) {
    list = member;
    beginEntries();
    return proceed(State.FIRST_ELEMENT, at + 1);
  }
  noteShapeError(ShapeError.LIST, member, at);
  return beginSkipTo(State.SKIPPED_MEMBER, at);
}

function readRet(at: usize): usize {
  const first = readByte(at);
  if (first != QUOTE && !isNumberStart(first)) {
    seenMembers |= Member.RET;
    noteShapeError(ShapeError.RET, Member.RET, at);
    return beginSkipTo(State.SKIPPED_MEMBER, at);
  }
  const tokenEnd = first == QUOTE ? skipString(at) : readNumber(at, false);
  if (tokenEnd == 0) return 0;
  seenMembers |= Member.RET;
  if (!takeRet(at, <u32>(tokenEnd - at))) noteShapeError(ShapeError.RET, Member.RET, tokenEnd);
  return proceed(State.AFTER_MEMBER, tokenEnd);
}

/** Reads elements and the commas after them, each a unit; nearly all of a body. */
function readElements(from: usize): usize {
  const isUserList = list == Member.USER_LIST;
  let at = from;
  while (true) {
    unitStart = at;
    at = isUserList ? readUser(at) : readTask(at);
    if (at == 0) return 0;
    state = State.AFTER_ELEMENT;
    unitStart = at;
    at = skipSpace(at);
    if (readByte(at) != COMMA) return at;
    state = State.ELEMENT;
    at = skipSpace(at + 1);
  }
}

/** Rejects an element that exceeds the limit. Any other unit of that length makes the body no listing. */
function dropOversizedUnit(): u32 {
  if (state != State.ELEMENT && state != State.FIRST_ELEMENT) return Outcome.TOKEN_TOO_LONG;
  reject(list == Member.USER_LIST ? RecordKind.USER : RecordKind.TASK, Reason.TOO_LONG);
  endEntry();
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
