import {
  addField,
  createRecordType,
  hasField,
  Kind,
  lengthOf,
  textOf,
  invalidFieldsOf,
  bitOf,
} from './fields';
import { commitNested, countInvalidFields, endEntry, Reason, RecordKind, reject } from './invalid';
import { OPEN_BRACE } from './json-bytes';
import { maxEntryBytes } from './limits';
import { countEntries, entryAt } from './list';
import { addF64, readByte, readF64, readU32 } from './memory';
import { readObject } from './objects';
import {
  clearInputs,
  clearOutputs,
  INPUT_DEVICE,
  INPUT_PROTOCOL,
  INPUT_VERSION,
  inputCount,
  inputCounts,
  inputs,
  labelOf,
  ListOf,
  orZero,
  OUTPUT_AUDIO,
  OUTPUT_CONNECTIONS,
  OUTPUT_FORMAT,
  OUTPUT_SIZE,
  OUTPUT_STREAMS_END,
  OUTPUT_TAG,
  OUTPUT_VIDEO,
  outputCounts,
  outputs,
  STREAM_BIT_RATE,
  STREAM_CODEC,
  STREAM_MODE,
  STREAM_TYPE,
  streamCounts,
  streams,
  valueOf,
} from './parts';
import { addOutputReading, addReading } from './readings';
import { addToRow, cell, Family, findRow } from './rows';
import { isForeign } from './service-code';
import { skipValue } from './skip';
import { beginSurplus, commitSurplus, countSurplus, Surplus } from './surplus';
import { Added, addTaskId } from './task-ids';

/* The elements of `user_list` and `task_list`. Nothing of an element counts before its end. */

export const userType = createRecordType();
const userVsId = addField(userType, 'vs_id', Kind.TEXT);
const userServiceCode = addField(userType, 'service_code', Kind.TEXT);
addField(userType, 'user_name', Kind.UNUSED);
const userClientVersion = addField(userType, 'client_version', Kind.TEXT_OR_INTEGER);
const userDeviceType = addField(userType, 'device_type', Kind.TEXT_OR_INTEGER);
addField(userType, 'id', Kind.UNUSED);

export const taskType = createRecordType();
const taskId = addField(taskType, 'id', Kind.TEXT);
addField(taskType, 'serial', Kind.UNUSED);
addField(taskType, 'sequence', Kind.UNUSED);
const taskProgress = addField(taskType, 'progress', Kind.NOT_NEGATIVE);
const taskVsId = addField(taskType, 'vs_id', Kind.TEXT);
const taskServiceCode = addField(taskType, 'service_code', Kind.TEXT);
const taskInputs = addField(taskType, 'inputs', Kind.LIST, ListOf.INPUTS);
const taskOutputs = addField(taskType, 'outputs', Kind.LIST, ListOf.OUTPUTS);
addField(taskType, 'http_live_url', Kind.UNUSED);
const taskInputBytes = addField(taskType, 'input_bytes', Kind.COUNT);
addField(taskType, 'opaque', Kind.UNUSED);

export let users: u32 = 0;
/** Tasks, those beyond the limit included. */
export let tasks: u32 = 0;
export let foreignUsers: u32 = 0;
export let foreignTasks: u32 = 0;

export function clearRecords(): void {
  users = 0;
  tasks = 0;
  foreignUsers = 0;
  foreignTasks = 0;
}

/** Reads an element of `user_list`. */
export function readUser(at: usize): usize {
  beginSurplus();
  const isObject = readByte(at) == OPEN_BRACE;
  const end = isObject ? readObject(userType, at) : skipValue(at);
  if (end == 0) return 0;
  if (!isObject) reject(RecordKind.USER, Reason.NOT_AN_OBJECT);
  else if (end - at > maxEntryBytes) reject(RecordKind.USER, Reason.TOO_LONG);
  else addUser();
  commitSurplus();
  endEntry();
  return end;
}

function addUser(): void {
  countInvalidFields(RecordKind.USER, userType);
  users += 1;
  if (isForeign(userType, userServiceCode)) foreignUsers += 1;
  const version = labelOf(userType, userClientVersion, Family.USERS, 0);
  addToRow(Family.USERS, version, labelOf(userType, userDeviceType, Family.USERS, 1), 0, 1);
  addToRow(Family.SERVERS, labelOf(userType, userVsId, Family.SERVERS, 0), 0, 0, 1);
}

/** Reads an element of `task_list`. */
export function readTask(at: usize): usize {
  beginSurplus();
  clearInputs();
  clearOutputs();
  const isObject = readByte(at) == OPEN_BRACE;
  const end = isObject ? readObject(taskType, at) : skipValue(at);
  if (end == 0) return 0;
  if (!isObject) reject(RecordKind.TASK, Reason.NOT_AN_OBJECT);
  else if (end - at > maxEntryBytes) reject(RecordKind.TASK, Reason.TOO_LONG);
  else if (!hasField(taskType, taskId)) rejectUnidentified();
  else addTask();
  commitSurplus();
  endEntry();
  return end;
}

function rejectUnidentified(): void {
  const hasWrongType = (invalidFieldsOf(taskType) & bitOf(taskId)) != 0;
  reject(RecordKind.TASK, hasWrongType ? Reason.WRONG_TYPE : Reason.MISSING_FIELD);
}

function addTask(): void {
  countInvalidFields(RecordKind.TASK, taskType);
  // A list that null or another value replaces is missing.
  if (!hasField(taskType, taskInputs)) clearInputs();
  if (!hasField(taskType, taskOutputs)) clearOutputs();
  commitNested(RecordKind.INPUT, inputCounts);
  commitNested(RecordKind.OUTPUT, outputCounts);
  commitNested(RecordKind.STREAM, streamCounts);
  const server = labelOf(taskType, taskVsId, Family.SERVERS, 0);
  const added = addTaskId(textOf(taskId), lengthOf(taskId), server);
  if (added == Added.DUPLICATE) return reject(RecordKind.TASK, Reason.DUPLICATE_ID);
  tasks += 1;
  if (isForeign(taskType, taskServiceCode)) foreignTasks += 1;
  const progress = valueOf(taskType, taskProgress);
  addServerSums(server, progress);
  addInputSums(server);
  if (added == Added.SURPLUS) {
    countSurplus(Surplus.TASK);
    addOutputSums(server, 0);
    return;
  }
  const inputBytes = valueOf(taskType, taskInputBytes);
  const connections = sumConnections();
  addOutputSums(
    server,
    addReading(textOf(taskId), lengthOf(taskId), server, progress, inputBytes, connections),
  );
}

function addServerSums(server: u32, progress: f64): void {
  const row = findRow(Family.SERVERS, server, 0, 0);
  addF64(cell(row, 1), 1);
  if (progress > 0) addF64(cell(row, 2), 1);
  if (inputCount > 1) addF64(cell(row, 3), 1);
}

function addInputSums(server: u32): void {
  const count = countEntries(inputs);
  for (let index: u32 = 0; index < count; index += 1) {
    const input = entryAt(inputs, index);
    addToRow(Family.INPUTS, server, readU32(input + INPUT_PROTOCOL), 0, 1);
    addToRow(Family.INPUT_CLIENTS, readU32(input + INPUT_VERSION), readU32(input + INPUT_DEVICE), 0, 1);
  }
}

function sumConnections(): f64 {
  const count = countEntries(outputs);
  let sum: f64 = 0;
  for (let index: u32 = 0; index < count; index += 1) {
    sum += orZero(readF64(entryAt(outputs, index) + OUTPUT_CONNECTIONS));
  }
  return sum;
}

/** Adds the sums of all outputs, and their readings unless `reading` is 0. */
function addOutputSums(server: u32, reading: usize): void {
  const count = countEntries(outputs);
  let stream: u32 = 0;
  for (let index: u32 = 0; index < count; index += 1) {
    const output = entryAt(outputs, index);
    const connections = readF64(output + OUTPUT_CONNECTIONS);
    const row = findRow(Family.OUTPUTS, server, readU32(output + OUTPUT_FORMAT), 0);
    addF64(cell(row, 0), 1);
    addF64(cell(row, 1), orZero(connections));
    if (connections == 0) addF64(cell(row, 2), 1);
    const size = readU32(output + OUTPUT_SIZE);
    const rendition = findRow(
      Family.RENDITIONS,
      size,
      readU32(output + OUTPUT_VIDEO),
      readU32(output + OUTPUT_AUDIO),
    );
    addF64(cell(rendition, 0), 1);
    addF64(cell(rendition, 1), orZero(connections));
    addToRow(Family.TAGS, readU32(output + OUTPUT_TAG), 0, 0, 1);
    const streamsEnd = readU32(output + OUTPUT_STREAMS_END);
    for (; stream < streamsEnd; stream += 1) addStreamSums(server, entryAt(streams, stream));
    if (reading != 0) addOutputReading(reading, index, output, row, rendition);
  }
}

function addStreamSums(server: u32, stream: usize): void {
  const type = readU32(stream + STREAM_TYPE);
  const mode = readU32(stream + STREAM_MODE);
  addToRow(Family.STREAMS, server, type, mode, 1);
  addToRow(Family.CODECS, readU32(stream + STREAM_CODEC), type, 0, 1);
  addToRow(Family.BIT_RATES, type, mode, 0, readF64(stream + STREAM_BIT_RATE));
}
