import { createHash } from 'node:crypto';
import type { Instant } from '../tally/instant.ts';
import { parseStateUnit } from '../tally/state-unit.ts';
import type { Tally } from '../tally/tally.ts';
import type { TallyRestoring } from '../tally/tally-state.ts';
import type { FileSystem, OpenFile } from './file-system.ts';
import { BEGINNING_BYTES, readBeginning, TRAILER_BYTES, trailerLine, VERSION } from './format.ts';
import { UnusableStateError } from './unusable.ts';

const CHUNK_BYTES = 64 * 1024;
const LINE_FEED = 0x0a;

/** What a state file held. */
export interface Restored {
  readonly tallies: ReadonlyMap<string, Tally>;
  /** How many service codes it has that are not wanted any more. */
  readonly dropped: number;
  /** When it was written, in wall-clock milliseconds. */
  readonly createdMs: number;
}

/**
 * Reads a state file. It is hashed whole before a line of it is believed.
 *
 * @param tallyFor - a new tally for a service code; `undefined` if it is not wanted.
 * @throws UnusableStateError, or as the file system does.
 */
export async function readState(
  files: FileSystem,
  path: string,
  tallyFor: (serviceCode: string) => Tally | undefined,
  now: Instant,
): Promise<Restored> {
  const file = await files.open(path, 'r');
  try {
    const { end, createdMs } = await verify(file);
    return { createdMs, ...(await restore(file, end, tallyFor, now)) };
  } finally {
    await file.close();
  }
}

/** Where the last line begins, and when it was written, of a file that is ours and as it was written. */
async function verify(file: OpenFile): Promise<{ readonly end: number; readonly createdMs: number }> {
  const { size } = await file.stat();
  if (size === 0) throw new UnusableStateError('damaged', 'Expected a state file, found an empty file');
  const beginning = readBeginning(await textAt(file, 0, Math.min(size, BEGINNING_BYTES)));
  if (beginning === undefined)
    throw new UnusableStateError('foreign', 'Expected a state file of xvs-exporter, found something else');
  if (beginning.version > VERSION) {
    const message = `Expected a state file of version ${VERSION} at most, found version ${beginning.version}`;
    throw new UnusableStateError('newer', message);
  }
  const end = Math.max(0, size - TRAILER_BYTES);
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(file, 0, end)) hash.update(chunk);
  if ((await textAt(file, end, size)) === trailerLine(hash.digest('hex')))
    return { end, createdMs: beginning.createdMs };
  throw new UnusableStateError(
    'damaged',
    'Expected the checksum of the state file to be right, found it wrong',
  );
}

async function restore(
  file: OpenFile,
  end: number,
  tallyFor: (serviceCode: string) => Tally | undefined,
  now: Instant,
): Promise<Omit<Restored, 'createdMs'>> {
  const tallies = new Map<string, Tally>();
  const codes = new Set<string>();
  let restoring: TallyRestoring | undefined;
  let number = 0;
  for await (const line of linesOf(chunksOf(file, 0, end))) {
    number += 1;
    if (number === 1) continue;
    const unit = parseStateUnit(parseJson(line));
    if (unit === undefined) throw unexpected(number);
    if (unit[0] === 'code') {
      const [, serviceCode] = unit;
      if (codes.has(serviceCode)) throw unexpected(number);
      codes.add(serviceCode);
      const tally = tallyFor(serviceCode);
      restoring = tally?.restoring(now);
      if (tally !== undefined) tallies.set(serviceCode, tally);
    }
    if (codes.size === 0 || restoring?.take(unit) === false) throw unexpected(number);
  }
  return { tallies, dropped: codes.size - tallies.size };
}

function unexpected(line: number): UnusableStateError {
  return new UnusableStateError(
    'damaged',
    `Expected line ${line} of the state file to make sense, found that it does not`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Its lines without their line feeds. Not by node's own reader of lines, which ends them at U+2028 too. */
async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string, void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([rest, chunk.subarray(start, end)]).toString();
      rest = Buffer.alloc(0);
      start = end + 1;
    }
    rest = Buffer.concat([rest, chunk.subarray(start)]);
  }
}

async function* chunksOf(file: OpenFile, start: number, end: number): AsyncGenerator<Buffer, void> {
  for (let position = start; position < end;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - position));
    const { bytesRead } = await file.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}

async function textAt(file: OpenFile, start: number, end: number): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(file, start, end)) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}
