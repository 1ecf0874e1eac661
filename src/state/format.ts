import { crc32 } from 'node:zlib';
import { z } from 'zod';

/*
 * The state consists of two files of lines. The snapshot:
 *
 *     {"format":"xvs-exporter state","version":4,"created":"2026-01-01T00:00:00.000Z","id":"…","journal":"…"}
 *     ["code","TESTING",…]       entries of tallies (tally/state-entry.ts), those of one service code together
 *     ["totals","TESTING",…]     after the entries of a code without a good listing since its state was restored
 *     ["unconfigured",1767…]     after the entries of a code that is not configured: since when, in wall-clock milliseconds
 *     {"sha256":"…"}             hash of all bytes before this line
 *
 * The journal, which holds what was published after the snapshot, each line with a checksum of all lines up to it:
 *
 *     {"format":"xvs-exporter journal","version":4,"created":"2026-01-01T00:00:00.000Z","snapshot":"…"}
 *     0123abcd ["totals","TESTING",…]
 *
 * A journal belongs to the snapshot whose id it names, and to the next one, which names that id as `journal`: a process
 * can be killed after the snapshot has been replaced and before the journal has.
 */

const STATE_FORMAT = 'xvs-exporter state';
const JOURNAL_FORMAT = 'xvs-exporter journal';

/** To be incremented with every change of the format or the meaning of a line. */
const FORMAT_VERSION = 4;

/** Enough bytes for the header fields that all versions share. */
const HEADER_PREFIX_BYTES = 128;

const HEADER_PREFIX = /^\{"format":"(xvs-exporter (?:state|journal))","version":(\d{1,9}),"created":"[^"]*"/;

const isoTime = z.iso.datetime().transform((text) => Date.parse(text));
const stateHeader = z.object({ created: isoTime, id: z.string(), journal: z.string().optional() });
const journalHeader = z.object({ created: isoTime, snapshot: z.string() });

/** The first line of a snapshot. */
export interface StateHeader {
  /** When the file was written, in wall-clock milliseconds. */
  readonly createdMs: number;
  /** Identifies the snapshot. */
  readonly id: string;
  /** The id of the snapshot to which the journal beside it belonged when the file was written. */
  readonly journalId: string | undefined;
}

/** The first line of a journal. */
export interface JournalHeader {
  readonly createdMs: number;
  /** The id of the snapshot that the journal continues. */
  readonly snapshotId: string;
}

/** `damaged`: incomplete or altered; `foreign`: not a state file; `newer`, `older`: written by another version. */
export type UnusableStateReason = 'damaged' | 'foreign' | 'newer' | 'older';

/** A snapshot or journal that cannot be used. The message contains nothing of the file's content. */
export class UnusableStateError extends Error {
  override readonly name = 'UnusableStateError';
  readonly reason: UnusableStateReason;

  constructor(reason: UnusableStateReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

export function formatStateHeader({ createdMs, id, journalId }: StateHeader): string {
  return formatHeader(STATE_FORMAT, createdMs, { id, journal: journalId });
}

export function formatJournalHeader({ createdMs, snapshotId }: JournalHeader): string {
  return formatHeader(JOURNAL_FORMAT, createdMs, { snapshot: snapshotId });
}

function formatHeader(format: string, createdMs: number, fields: object): string {
  const created = new Date(createdMs).toISOString();
  return `${JSON.stringify({ format, version: FORMAT_VERSION, created, ...fields })}\n`;
}

/** Throws {@link UnusableStateError} if a file does not begin as a snapshot of this version. */
export function checkStatePrefix(file: Buffer): void {
  checkPrefix(file, STATE_FORMAT, 'a state file');
}

/** Throws {@link UnusableStateError} if a file does not begin as a journal of this version. */
export function checkJournalPrefix(file: Buffer): void {
  checkPrefix(file, JOURNAL_FORMAT, 'a state journal');
}

function checkPrefix(file: Buffer, format: string, kind: string): void {
  if (file.length === 0) throw new UnusableStateError('damaged', `Expected ${kind}, found an empty file`);
  const [, found, digits] = HEADER_PREFIX.exec(file.toString('latin1', 0, HEADER_PREFIX_BYTES)) ?? [];
  if (found !== format)
    throw new UnusableStateError('foreign', `Expected ${kind} of xvs-exporter, found something else`);
  const version = Number(digits);
  if (version === FORMAT_VERSION) return;
  const message = `Expected ${kind} of version ${FORMAT_VERSION}, found version ${version}`;
  throw new UnusableStateError(version > FORMAT_VERSION ? 'newer' : 'older', message);
}

export function parseStateHeader(line: string): StateHeader | undefined {
  const { data } = stateHeader.safeParse(parseJson(line));
  return data && { createdMs: data.created, id: data.id, journalId: data.journal };
}

export function parseJournalHeader(line: string): JournalHeader | undefined {
  const { data } = journalHeader.safeParse(parseJson(line));
  return data && { createdMs: data.created, snapshotId: data.snapshot };
}

/** Formats the last line of a snapshot. `sha256` is the hash of all bytes before it, in hexadecimal. */
export function formatTrailer(sha256: string): string {
  return `${JSON.stringify({ sha256 })}\n`;
}

export const TRAILER_BYTES = formatTrailer('0'.repeat(64)).length;

const CRC_DIGITS = 8;

/** Formats a line of a journal and returns it with the checksum of all lines up to it. */
export function formatRecord(
  json: string,
  previousCrc: number,
): { readonly line: string; readonly crc: number } {
  const crc = crc32(json, previousCrc);
  return { line: `${crc.toString(16).padStart(CRC_DIGITS, '0')} ${json}\n`, crc };
}

/** The JSON and the checksum of a line of a journal, which is without its line feed; `undefined` if it is damaged. */
export function parseRecord(
  line: string,
  previousCrc: number,
): { readonly json: string; readonly crc: number } | undefined {
  const json = line.slice(CRC_DIGITS + 1);
  const { line: expected, crc } = formatRecord(json, previousCrc);
  return `${line}\n` === expected ? { json, crc } : undefined;
}

/** `undefined` if a text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
