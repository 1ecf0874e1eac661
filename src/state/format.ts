/*
 * A state file is lines of JSON:
 *
 *     {"format":"xvs-exporter state","version":1,"created":"2026-01-01T00:00:00.000Z"}
 *     ["code","TESTING",…]       units of tallies, those of a service code together (tally/state-unit.ts)
 *     {"sha256":"…"}             over every byte before this line
 */

const FORMAT = 'xvs-exporter state';

/** Counts up with every change of what a line is or means. */
export const VERSION = 1;

/** By so many bytes a file shows what it is. */
export const BEGINNING_BYTES = 128;

/** As much as all versions have in common. */
const BEGINNING = /^\{"format":"xvs-exporter state","version":(\d{1,9}),"created":"([^"]*)"/;

/** The first line; `nowMs` is wall-clock time. */
export function headerLine(nowMs: number): string {
  return `${JSON.stringify({ format: FORMAT, version: VERSION, created: new Date(nowMs).toISOString() })}\n`;
}

/** What a file says of itself in its first bytes: its version, and when it was written, in wall-clock milliseconds. */
export interface Beginning {
  readonly version: number;
  readonly createdMs: number;
}

/** Reads the first bytes of a file; `undefined` if it is no state file. */
export function readBeginning(text: string): Beginning | undefined {
  const [, version, created] = BEGINNING.exec(text) ?? [];
  if (version === undefined || created === undefined) return undefined;
  return { version: Number(version), createdMs: Date.parse(created) };
}

/** The last line, from the hash over all before it in hexadecimal. */
export function trailerLine(sha256: string): string {
  return `${JSON.stringify({ sha256 })}\n`;
}

/** The last line always has the same length. */
export const TRAILER_BYTES = trailerLine('0'.repeat(64)).length;
