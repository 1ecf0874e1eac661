import type { Tally } from '../tally/tally.ts';
import { writeAtomically } from './atomic-file.ts';
import type { FileSystem } from './file-system.ts';
import { headerLine, trailerLine } from './format.ts';
import { LineWriter } from './line-writer.ts';

/** What is written in one go, about: some hundred tasks, which take a millisecond or two to put into words. */
const PIECE_LENGTH = 64 * 1024;
const GROWTH = 4;

/**
 * Writes the state of all tallies, in the place of the file that was there; returns its size. `nowMs` is wall-clock
 * time. Between two pieces everything else has its turn, commits of listings among it.
 */
export async function writeState(
  files: FileSystem,
  path: string,
  tallies: Iterable<Tally>,
  nowMs: number,
): Promise<number> {
  return await writeAtomically(files, path, async (file) => {
    const writer = new LineWriter(file);
    writer.add(headerLine(nowMs));
    for (const tally of tallies) await writeTally(writer, tally);
    return await writer.end(trailerLine);
  });
}

/**
 * A tally is written as it stands between two listings. Where one is committed halfway through, what was written of
 * it is taken back and written anew, in longer pieces each time: should listings come faster than it can be written,
 * it is in the end one piece.
 */
async function writeTally(writer: LineWriter, tally: Tally): Promise<void> {
  const mark = writer.mark();
  for (let pieceLength = PIECE_LENGTH; !(await tryTally(writer, tally, pieceLength)); pieceLength *= GROWTH) {
    writer.rewind(mark);
  }
}

/** False if the tally has changed before all of it was put into words. */
async function tryTally(writer: LineWriter, tally: Tally, pieceLength: number): Promise<boolean> {
  const { listings } = tally;
  for (const unit of tally.state()) {
    writer.add(`${JSON.stringify(unit)}\n`);
    if (writer.pending < pieceLength) continue;
    await writer.flush();
    if (tally.listings !== listings) return false;
  }
  return true;
}
