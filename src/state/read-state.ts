import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseStateEntry } from '../tally/state-entry.ts';
import type { FileSystem } from './file-system.ts';
import {
  checkStatePrefix,
  formatTrailer,
  parseJson,
  parseStateHeader,
  TRAILER_BYTES,
  UnusableStateError,
  type StateHeader,
} from './format.ts';
import { readLines, type Line } from './read-lines.ts';
import { advanceSavedCode, EMPTY_SAVED_CODE, type SavedCode } from './saved-code.ts';

const CHUNK_BYTES = 64 * 1024;

/** A snapshot that was read. */
export interface SavedState extends StateHeader {
  /** By service code. Their entries are parsed only when they are restored. */
  readonly codes: ReadonlyMap<string, SavedCode>;
}

/**
 * Reads a snapshot and verifies the hash of the whole file.
 *
 * @throws UnusableStateError, or errors of the file system unchanged
 */
export async function readState(files: FileSystem, path: string): Promise<SavedState> {
  const content = await readFile(files, path);
  checkStatePrefix(content);
  const trailerStart = Math.max(0, content.length - TRAILER_BYTES);
  const lines = content.subarray(0, trailerStart);
  const trailer = formatTrailer(createHash('sha256').update(lines).digest('hex'));
  if (content.toString('latin1', trailerStart) !== trailer)
    throw new UnusableStateError('damaged', 'Expected the SHA-256 checksum to match, found a different one');
  const headerEnd = lines.indexOf('\n') + 1;
  const header = parseStateHeader(lines.toString('utf8', 0, headerEnd));
  if (header === undefined) throw createInvalidLineError(1);
  return { ...header, codes: splitCodes(lines.subarray(headerEnd)) };
}

/** Reads a whole file in chunks. */
export async function readFile(files: FileSystem, path: string): Promise<Buffer> {
  const file = await files.open(path, 'r');
  try {
    const { size } = await file.stat();
    const content = Buffer.allocUnsafe(size);
    let length = 0;
    while (length < size) {
      const { bytesRead } = await file.read(content, length, Math.min(CHUNK_BYTES, size - length), length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    return content.subarray(0, length);
  } finally {
    await file.close();
  }
}

const KINDS_TO_PARSE = ['["code",', '["totals",', '["unconfigured",'];
const unconfigured = z.tuple([z.literal('unconfigured'), z.number()]);

/** Builds the saved states of the service codes from the lines between header and trailer. */
class CodeSplitter {
  readonly codes = new Map<string, SavedCode>();
  readonly #lines: Buffer;
  #serviceCode: string | undefined;
  /** The current code, without its entries. */
  #saved: SavedCode = EMPTY_SAVED_CODE;
  #entriesStart = 0;
  #entriesEnd = 0;

  constructor(lines: Buffer) {
    this.#lines = lines;
  }

  /** Takes the next line; false if it is invalid. */
  add({ text, start, end }: Line): boolean {
    const [kind] = KINDS_TO_PARSE.filter((prefix) => text.startsWith(prefix));
    if (kind === undefined) {
      this.#entriesEnd = end;
      return this.#serviceCode !== undefined;
    }
    const value = parseJson(text);
    const { data } = unconfigured.safeParse(value);
    if (data !== undefined) {
      this.#saved = { ...this.#saved, unconfiguredSinceMs: data[1] };
      return this.#serviceCode !== undefined;
    }
    const entry = parseStateEntry(value);
    if (entry?.[0] === 'code') {
      if (!this.#begin(entry[1], start)) return false;
      this.#saved = { ...EMPTY_SAVED_CODE, listings: entry[3] };
      this.#entriesEnd = end;
      return true;
    }
    if (entry?.[0] !== 'totals') return false;
    // A service code that was only in the journal has no entries.
    if (entry[1] !== this.#serviceCode && !this.#begin(entry[1], start)) return false;
    this.#saved = advanceSavedCode(this.#saved, entry);
    return true;
  }

  /** Ends the current service code. */
  end(): void {
    if (this.#serviceCode === undefined) return;
    // A copy: the lines of other codes must not stay in memory with it.
    const entries = Buffer.from(this.#lines.subarray(this.#entriesStart, this.#entriesEnd));
    this.codes.set(this.#serviceCode, { ...this.#saved, entries });
  }

  /** False if the code is repeated. */
  #begin(serviceCode: string, start: number): boolean {
    this.end();
    this.#serviceCode = serviceCode;
    this.#saved = EMPTY_SAVED_CODE;
    this.#entriesStart = start;
    this.#entriesEnd = start;
    return !this.codes.has(serviceCode);
  }
}

function splitCodes(lines: Buffer): ReadonlyMap<string, SavedCode> {
  const splitter = new CodeSplitter(lines);
  let lineNumber = 1;
  for (const line of readLines(lines)) {
    lineNumber += 1;
    if (!splitter.add(line)) throw createInvalidLineError(lineNumber);
  }
  splitter.end();
  return splitter.codes;
}

function createInvalidLineError(lineNumber: number): UnusableStateError {
  return new UnusableStateError(
    'damaged',
    `Expected a valid entry on line ${lineNumber} of the state file, found something else`,
  );
}
