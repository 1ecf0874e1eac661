import { takeReadings } from './host';
import { countEntries, entryAt } from './list';
import { allocate, copyBytes, readF64, readU32, writeF64, writeU32 } from './memory';
import {
  INPUT_BYTES,
  INPUT_IDENTITY,
  INPUT_PROTOCOL,
  inputCount,
  inputs,
  NO_VALUE,
  orZero,
  OUTPUT_BYTES,
  OUTPUT_CONNECTIONS,
  OUTPUT_IDENTITY,
  outputs,
} from './parts';
import { LENGTH_BITS } from './texts';

/*
 * Readings: of each task what the ledger needs, for the host to take. A reading is a head, its inputs (unless the task
 * itself has `input_bytes`), its outputs, and the bytes of its id, at multiples of 8. `host/reading-decoder.ts` decodes it.
 */

const SIZE: usize = 0;
/** With flags; see `texts.ts`. */
const ID_LENGTH: usize = 4;
const SERVER: usize = 8;
/** Label id; that of a missing value unless the task has exactly one input. */
const PROTOCOL: usize = 12;
const PROGRESS: usize = 16;
const INPUT_BYTES_OF_TASK: usize = 24;
const CONNECTIONS: usize = 32;
const ALL_INPUTS: usize = 40;
const INPUTS: usize = 44;
const OUTPUTS: usize = 48;
const HEAD_BYTES: usize = 56;

/** An input: identity, bytes. An output: the same, connections, and the numbers of two rows. */
const INPUT_SIZE: usize = 16;
const OUTPUT_SIZE: usize = 32;
const OUTPUT_ROW: usize = 24;
const RENDITION_ROW: usize = 28;

/** Parts up to this number are sorted here, the rest by the host: sorting by insertion is fast for a few. */
const MAX_SORTED: u32 = 32;

let capacity: usize = 64 * 1024;
export let readings: usize = allocate(capacity);
export let readingsUsed: usize = 0;

export function clearReadings(): void {
  readingsUsed = 0;
}

/** Adds the reading of a task without its outputs and returns its address. */
export function addReading(
  id: usize,
  idLength: u32,
  server: u32,
  progress: f64,
  inputBytes: f64,
  connections: f64,
): usize {
  const listed = inputBytes == NO_VALUE ? countEntries(inputs) : 0;
  const outputCount = countEntries(outputs);
  const idBytes = <usize>(idLength & LENGTH_BITS);
  const parts = <usize>listed * INPUT_SIZE + <usize>outputCount * OUTPUT_SIZE;
  const size = HEAD_BYTES + parts + ((idBytes + 7) & ~7);
  if (readingsUsed + size > capacity) reserve(size);
  const reading = readings + readingsUsed;
  writeU32(reading + SIZE, <u32>size);
  writeU32(reading + ID_LENGTH, idLength);
  writeU32(reading + SERVER, server);
  writeU32(reading + PROTOCOL, countEntries(inputs) == 0 ? 0 : readU32(entryAt(inputs, 0) + INPUT_PROTOCOL));
  writeF64(reading + PROGRESS, progress);
  writeF64(reading + INPUT_BYTES_OF_TASK, inputBytes);
  writeF64(reading + CONNECTIONS, connections);
  writeU32(reading + ALL_INPUTS, inputCount);
  writeU32(reading + INPUTS, listed);
  writeU32(reading + OUTPUTS, outputCount);
  for (let index: u32 = 0; index < listed; index += 1) putInput(reading + HEAD_BYTES, index);
  copyBytes(reading + HEAD_BYTES + parts, id, idBytes);
  readingsUsed += size;
  return reading;
}

/** Adds an output to a reading; `index` is the number of its outputs so far. */
export function addOutputReading(
  reading: usize,
  index: u32,
  output: usize,
  row: u32,
  renditionRow: u32,
): void {
  const first = reading + HEAD_BYTES + <usize>readU32(reading + INPUTS) * INPUT_SIZE;
  const identity = readF64(output + OUTPUT_IDENTITY);
  const bytes = readF64(output + OUTPUT_BYTES);
  const at = insertPart(first, index, OUTPUT_SIZE, identity, bytes);
  writeF64(at + 16, orZero(readF64(output + OUTPUT_CONNECTIONS)));
  writeU32(at + OUTPUT_ROW, row);
  writeU32(at + RENDITION_ROW, renditionRow);
}

function putInput(first: usize, index: u32): void {
  const input = entryAt(inputs, index);
  insertPart(first, index, INPUT_SIZE, readF64(input + INPUT_IDENTITY), readF64(input + INPUT_BYTES));
}

/** Inserts a part by its identity, then by its bytes, the largest first; returns its address. */
function insertPart(first: usize, index: u32, size: usize, identity: f64, bytes: f64): usize {
  let at = first + <usize>index * size;
  if (index < MAX_SORTED) {
    while (at > first && isBefore(identity, bytes, at - size)) {
      copyBytes(at, at - size, size);
      at -= size;
    }
  }
  writeF64(at, identity);
  writeF64(at + 8, bytes);
  return at;
}

function isBefore(identity: f64, bytes: f64, part: usize): bool {
  const other = readF64(part);
  return identity < other || (identity == other && bytes > readF64(part + 8));
}

/** Has the host take all readings, and makes space for one of `size` bytes. */
function reserve(size: usize): void {
  takeReadings();
  readingsUsed = 0;
  if (size <= capacity) return;
  capacity = size * 2;
  readings = allocate(capacity);
}
