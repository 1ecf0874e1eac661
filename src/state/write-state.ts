import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Tally } from '../tally/tally.ts';
import { writeAtomically } from './atomic-file.ts';
import type { FileSystem } from './file-system.ts';
import { formatStateHeader, formatTrailer, type StateHeader } from './format.ts';
import { LineWriter } from './line-writer.ts';
import type { SavedCode } from './saved-code.ts';

/** Characters per write: some hundred tasks, which take one or two milliseconds to serialize. */
const CHUNK_LENGTH = 64 * 1024;
const CHUNK_GROWTH_FACTOR = 4;

/** The state of a service code: of its tally, or as it was saved. */
export type CodeState = Tally | SavedCode;

/**
 * Replaces the snapshot by the state of all service codes. The event loop runs between two chunks, so that listings may
 * be committed meanwhile.
 *
 * @returns the size of the file in bytes
 */
export async function writeState(
  files: FileSystem,
  path: string,
  header: StateHeader,
  codes: Iterable<CodeState>,
): Promise<number> {
  return await writeAtomically(files, path, async (file) => {
    const writer = new LineWriter(file);
    writer.add(formatStateHeader(header));
    for (const code of codes)
      await ('entries' in code ? writeSavedCode(writer, code) : writeTally(writer, code));
    return await writer.finish(formatTrailer);
  });
}

async function writeSavedCode(
  writer: LineWriter,
  { entries, totals, unconfiguredSinceMs }: SavedCode,
): Promise<void> {
  await writer.writeLines(entries);
  if (totals !== undefined) writer.add(`${JSON.stringify(totals)}\n`);
  if (unconfiguredSinceMs !== undefined)
    writer.add(`${JSON.stringify(['unconfigured', unconfiguredSinceMs])}\n`);
}

/**
 * Writes a tally as it is between two commits. If a commit begins meanwhile, rewinds and writes the tally again in larger
 * chunks. Should listings arrive faster than chunks are written, one chunk finally holds the whole tally.
 */
async function writeTally(writer: LineWriter, tally: Tally): Promise<void> {
  const mark = writer.mark();
  let chunkLength = CHUNK_LENGTH;
  for (;;) {
    // Its steps run in turns with this loop.
    while (tally.isCommitting) await yieldToEventLoop();
    if (await tryWriteTally(writer, tally, chunkLength)) return;
    writer.rewind(mark);
    chunkLength *= CHUNK_GROWTH_FACTOR;
  }
}

/** Returns false if the tally changed before all of it was serialized. */
async function tryWriteTally(writer: LineWriter, tally: Tally, chunkLength: number): Promise<boolean> {
  const { revision } = tally;
  for (const entry of tally.exportState()) {
    writer.add(`${JSON.stringify(entry)}\n`);
    if (writer.pendingLength < chunkLength) continue;
    await writer.flush();
    if (tally.revision !== revision) return false;
  }
  return true;
}
