import { Expected, fail } from './failure';
import { addField, createRecordType, hasField, Kind, lengthOf, numberOf, textOf } from './fields';
import { addIdentityText, beginIdentity, endIdentity } from './identity';
import { addNested, clearNested, countNestedFields, createNestedCounts, rejectNested } from './invalid';
import { CLOSE_BRACKET, COMMA, OPEN_BRACE } from './json-bytes';
import { findLabel, findNumberLabel, findSizeLabel, FixedLabel, UNKNOWN } from './labels';
import { maxInputs, maxOutputs, maxStreams } from './limits';
import { addEntry, countEntries, createList, truncateList } from './list';
import { readByte, writeF64, writeU32 } from './memory';
import { readObject, setListReader } from './objects';
import { findProtocolLabel } from './protocol';
import { canAddLabel, Family } from './rows';
import { skipValue } from './skip';
import { skipSpace } from './strings';
import { countSurplus, Surplus } from './surplus';

/*
 * The parts of the task being read: inputs, outputs, and streams of outputs. They are kept as numbers until the task
 * ends, because only then is it known whether the task counts.
 */

/** The lists of a task and of an output. */
export const enum ListOf {
  INPUTS = 1,
  OUTPUTS = 2,
  STREAMS = 3,
}

/** The value of a number that is missing. */
export const NO_VALUE: f64 = -1;

export function orZero(value: f64): f64 {
  return value < 0 ? 0 : value;
}

export const inputType = createRecordType();
const inputUrl = addField(inputType, 'url', Kind.EMPTY_TEXT);
addField(inputType, 'service_code', Kind.UNUSED);
const inputUserName = addField(inputType, 'user_name', Kind.TEXT);
const inputDeviceType = addField(inputType, 'device_type', Kind.TEXT_OR_INTEGER);
const inputDeviceVersion = addField(inputType, 'device_version', Kind.TEXT_OR_INTEGER);
const inputClientVersion = addField(inputType, 'client_version', Kind.TEXT_OR_INTEGER);
const inputBytes = addField(inputType, 'input_bytes', Kind.COUNT);

export const outputType = createRecordType();
const outputFileName = addField(outputType, 'file_name', Kind.TEXT);
const outputTag = addField(outputType, 'tag', Kind.TEXT);
const outputAudio = addField(outputType, 'audio_codec_name', Kind.TEXT);
const outputVideo = addField(outputType, 'video_codec_name', Kind.TEXT);
const outputFormat = addField(outputType, 'format', Kind.TEXT);
const outputWidth = addField(outputType, 'width', Kind.COUNT);
const outputHeight = addField(outputType, 'height', Kind.COUNT);
const outputRelativeDir = addField(outputType, 'relative_dir', Kind.TEXT);
const outputBytes = addField(outputType, 'http_output_bytes', Kind.COUNT);
const outputConnections = addField(outputType, 'http_connections_num', Kind.COUNT);
const outputStreams = addField(outputType, 'streams', Kind.LIST, ListOf.STREAMS);
addField(outputType, 'live_url', Kind.UNUSED);

export const streamType = createRecordType();
addField(streamType, 'index', Kind.UNUSED);
const streamCodecType = addField(streamType, 'codec_type', Kind.INTEGER);
const streamCodecId = addField(streamType, 'codec_id', Kind.INTEGER);
const streamCopy = addField(streamType, 'copy', Kind.INTEGER);
addField(streamType, 'width', Kind.UNUSED);
addField(streamType, 'height', Kind.UNUSED);
const streamBitRate = addField(streamType, 'bit_rate', Kind.COUNT);

/** An input: identity and bytes as doubles, then label ids. */
export const INPUT_IDENTITY: usize = 0;
export const INPUT_BYTES: usize = 8;
export const INPUT_PROTOCOL: usize = 16;
export const INPUT_DEVICE: usize = 20;
export const INPUT_VERSION: usize = 24;
export const inputs = createList(32);
/** Inputs of the task, those beyond the limit included. */
export let inputCount: u32 = 0;

/** An output: doubles, then label ids, then the number of streams of this output and of those before. */
export const OUTPUT_IDENTITY: usize = 0;
export const OUTPUT_BYTES: usize = 8;
export const OUTPUT_CONNECTIONS: usize = 16;
export const OUTPUT_FORMAT: usize = 24;
export const OUTPUT_TAG: usize = 28;
export const OUTPUT_VIDEO: usize = 32;
export const OUTPUT_AUDIO: usize = 36;
export const OUTPUT_SIZE: usize = 40;
export const OUTPUT_STREAMS_END: usize = 44;
export const outputs = createList(48);

/** A stream: label ids and its bit rate. */
export const STREAM_TYPE: usize = 0;
export const STREAM_MODE: usize = 4;
export const STREAM_CODEC: usize = 8;
export const STREAM_BIT_RATE: usize = 16;
export const streams = createList(24);
/** Number of streams of the outputs before the one being read. */
let outputStreamsStart: u32 = 0;
/** Streams of the output being read, those beyond the limit included. */
let outputStreamCount: u32 = 0;

export const inputCounts = createNestedCounts();
export const outputCounts = createNestedCounts();
export const streamCounts = createNestedCounts();
/** Counts of the output being read. */
const outputStreamCounts = createNestedCounts();

export function clearInputs(): void {
  truncateList(inputs, 0);
  inputCount = 0;
  clearNested(inputCounts);
}

export function clearOutputs(): void {
  truncateList(outputs, 0);
  outputStreamsStart = 0;
  clearStreams();
  clearNested(outputCounts);
  clearNested(streamCounts);
}

function clearStreams(): void {
  truncateList(streams, outputStreamsStart);
  outputStreamCount = 0;
  clearNested(outputStreamCounts);
}

setListReader((list: u32, from: usize): usize => {
  // A list that occurs twice replaces the first one.
  if (list == ListOf.INPUTS) clearInputs();
  else if (list == ListOf.OUTPUTS) clearOutputs();
  else clearStreams();
  return readParts(list, from);
});

/** Reads the elements of a list and its closing bracket. */
function readParts(list: u32, from: usize): usize {
  let at = from;
  if (readByte(at) == CLOSE_BRACKET) return at + 1;
  while (true) {
    if (list == ListOf.STREAMS) at = readStream(at);
    else at = list == ListOf.OUTPUTS ? readOutput(at) : readInput(at);
    if (at == 0) return 0;
    at = skipSpace(at);
    const byte = readByte(at);
    if (byte == CLOSE_BRACKET) return at + 1;
    if (byte != COMMA) return fail(at, Expected.COMMA_OR_BRACKET);
    at = skipSpace(at + 1);
  }
}

/** Label id of a field of the last object, which is label number `level` of a family in the order of folding. */
export function labelOf(type: usize, field: usize, family: u32, level: u32): u32 {
  if (!hasField(type, field)) return UNKNOWN;
  return findLabel(textOf(field), lengthOf(field), numberOf(field), canAddLabel(family, level));
}

/** Number of a field of the last object. */
export function valueOf(type: usize, field: usize): f64 {
  return hasField(type, field) ? numberOf(field) : NO_VALUE;
}

function identifyBy(type: usize, field: usize): void {
  addIdentityText(textOf(field), hasField(type, field) ? lengthOf(field) : 0);
}

function readInput(at: usize): usize {
  if (readByte(at) != OPEN_BRACE) {
    rejectNested(inputCounts);
    return skipValue(at);
  }
  const end = readObject(inputType, at);
  if (end == 0) return 0;
  countNestedFields(inputCounts, inputType);
  inputCount += 1;
  if (inputCount > maxInputs) countSurplus(Surplus.INPUT);
  else addInput();
  return end;
}

function addInput(): void {
  beginIdentity();
  identifyBy(inputType, inputUrl);
  identifyBy(inputType, inputUserName);
  const input = addEntry(inputs);
  writeF64(input + INPUT_IDENTITY, endIdentity());
  writeF64(input + INPUT_BYTES, valueOf(inputType, inputBytes));
  const hasUrl = hasField(inputType, inputUrl);
  writeU32(input + INPUT_PROTOCOL, findProtocolLabel(hasUrl, textOf(inputUrl), lengthOf(inputUrl)));
  writeU32(input + INPUT_DEVICE, labelOf(inputType, inputDeviceType, Family.INPUT_CLIENTS, 1));
  const version = hasField(inputType, inputDeviceVersion) ? inputDeviceVersion : inputClientVersion;
  writeU32(input + INPUT_VERSION, labelOf(inputType, version, Family.INPUT_CLIENTS, 0));
}

function readOutput(at: usize): usize {
  outputStreamsStart = countEntries(streams);
  clearStreams();
  if (readByte(at) != OPEN_BRACE) {
    rejectNested(outputCounts);
    return skipValue(at);
  }
  const end = readObject(outputType, at);
  if (end == 0) return 0;
  countNestedFields(outputCounts, outputType);
  // A list that null or another value replaces is missing.
  if (!hasField(outputType, outputStreams)) clearStreams();
  addNested(outputStreamCounts, streamCounts);
  if (countEntries(outputs) < maxOutputs) {
    addOutput();
  } else {
    countSurplus(Surplus.OUTPUT);
    clearStreams();
  }
  return end;
}

function addOutput(): void {
  beginIdentity();
  identifyBy(outputType, outputFormat);
  identifyBy(outputType, outputRelativeDir);
  identifyBy(outputType, outputFileName);
  const output = addEntry(outputs);
  writeF64(output + OUTPUT_IDENTITY, endIdentity());
  writeF64(output + OUTPUT_BYTES, valueOf(outputType, outputBytes));
  writeF64(output + OUTPUT_CONNECTIONS, valueOf(outputType, outputConnections));
  writeU32(output + OUTPUT_FORMAT, labelOf(outputType, outputFormat, Family.OUTPUTS, 1));
  writeU32(output + OUTPUT_TAG, labelOf(outputType, outputTag, Family.TAGS, 0));
  writeU32(output + OUTPUT_VIDEO, labelOf(outputType, outputVideo, Family.RENDITIONS, 1));
  writeU32(output + OUTPUT_AUDIO, labelOf(outputType, outputAudio, Family.RENDITIONS, 2));
  writeU32(output + OUTPUT_SIZE, findSize());
  writeU32(output + OUTPUT_STREAMS_END, countEntries(streams));
}

function findSize(): u32 {
  if (!hasField(outputType, outputWidth) || !hasField(outputType, outputHeight)) return UNKNOWN;
  return findSizeLabel(numberOf(outputWidth), numberOf(outputHeight), canAddLabel(Family.RENDITIONS, 0));
}

function readStream(at: usize): usize {
  if (readByte(at) != OPEN_BRACE) {
    rejectNested(outputStreamCounts);
    return skipValue(at);
  }
  const end = readObject(streamType, at);
  if (end == 0) return 0;
  countNestedFields(outputStreamCounts, streamType);
  outputStreamCount += 1;
  if (outputStreamCount > maxStreams) countSurplus(Surplus.STREAM);
  else addStream();
  return end;
}

function addStream(): void {
  const stream = addEntry(streams);
  writeU32(stream + STREAM_TYPE, findCodecType(valueOf(streamType, streamCodecType)));
  writeU32(stream + STREAM_MODE, findMode(valueOf(streamType, streamCopy)));
  const codec = hasField(streamType, streamCodecId)
    ? findNumberLabel(numberOf(streamCodecId), canAddLabel(Family.CODECS, 0))
    : UNKNOWN;
  writeU32(stream + STREAM_CODEC, codec);
  writeF64(stream + STREAM_BIT_RATE, orZero(valueOf(streamType, streamBitRate)));
}

/** "Stream", `codec_type`: 0 = video, 1 = audio. */
function findCodecType(value: f64): u32 {
  if (value == 0) return FixedLabel.VIDEO;
  return value == 1 ? FixedLabel.AUDIO : UNKNOWN;
}

/** "Stream", `copy`: 1 is copied; the sample has 0, and the text 2, for a stream that is not. */
function findMode(value: f64): u32 {
  if (value == 1) return FixedLabel.COPY;
  return value == 0 || value == 2 ? FixedLabel.TRANSCODE : UNKNOWN;
}
