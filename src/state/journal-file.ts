import { crc32 } from 'node:zlib';
import type { SeriesSelection } from '../tally/counter-family.ts';
import { parseStateEntry } from '../tally/state-entry.ts';
import type { Tally } from '../tally/tally.ts';
import { createTemporaryFile, toTemporaryPath } from './atomic-file.ts';
import type { FileSystem, OpenFile } from './file-system.ts';
import {
  checkJournalPrefix,
  formatJournalHeader,
  formatRecord,
  parseJournalHeader,
  parseJson,
  parseRecord,
  UnusableStateError,
} from './format.ts';
import { writeFully } from './line-writer.ts';
import { readLines } from './read-lines.ts';
import { readFile } from './read-state.ts';
import type { PublishedTotals } from './saved-code.ts';

/** Totals to append, as JSON, by tally; `undefined` for all totals of the tally at the time of the write. */
export type JournalBatch = ReadonlyMap<Tally, string | undefined>;

/**
 * A journal that is being written. It is created under a temporary name and replaces the journal of the snapshot before
 * when its own snapshot is complete. Calls must not overlap, except for `sync`.
 */
export class JournalFile {
  /** The id of the snapshot that this journal continues. */
  readonly snapshotId: string;
  readonly #files: FileSystem;
  readonly #path: string;
  readonly #file: OpenFile;
  /** Tallies of which a record is missing after an error. */
  readonly #incompleteTallies = new Set<Tally>();
  #position = 0;
  #crc = 0;

  private constructor(files: FileSystem, path: string, file: OpenFile, snapshotId: string) {
    this.#files = files;
    this.#path = path;
    this.#file = file;
    this.snapshotId = snapshotId;
  }

  static async create(
    files: FileSystem,
    path: string,
    snapshotId: string,
    createdMs: number,
  ): Promise<JournalFile> {
    const file = await createTemporaryFile(files, path);
    const journal = new JournalFile(files, path, file, snapshotId);
    try {
      const header = formatJournalHeader({ createdMs, snapshotId });
      await journal.#write(header, crc32(header));
      return journal;
    } catch (error) {
      await journal.discard();
      throw error;
    }
  }

  /** The size of the file in bytes. */
  get bytes(): number {
    return this.#position;
  }

  /**
   * Appends a batch with a single write, without a sync. After an error, the next batch includes all totals of the tallies
   * whose records are missing.
   */
  async append(batch: JournalBatch): Promise<void> {
    for (const [tally, json] of batch) if (json === undefined) this.#incompleteTallies.add(tally);
    const complete = [...batch].filter(([tally]) => !this.#incompleteTallies.has(tally));
    const records = [
      ...complete.map(([, json]) => json),
      ...[...this.#incompleteTallies].map((tally) => formatTotals(tally, 'all')),
    ];
    let crc = this.#crc;
    const lines = records.flatMap((json) => {
      if (json === undefined) return [];
      const record = formatRecord(json, crc);
      ({ crc } = record);
      return [record.line];
    });
    for (const tally of batch.keys()) this.#incompleteTallies.add(tally);
    await this.#write(lines.join(''), crc);
    this.#incompleteTallies.clear();
  }

  /** Makes what was appended durable. */
  async sync(): Promise<void> {
    await this.#file.sync();
  }

  /** Replaces the journal of the snapshot before. */
  async replace(): Promise<void> {
    await this.#files.rename(toTemporaryPath(this.#path), this.#path);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }

  /** Removes a journal that has not replaced another one. The error that led to it is the one to report. */
  async discard(): Promise<void> {
    await this.close().catch(() => undefined);
    await this.#files.rm(toTemporaryPath(this.#path), { force: true }).catch(() => undefined);
  }

  async #write(text: string, crc: number): Promise<void> {
    const bytes = Buffer.from(text);
    try {
      await writeFully(this.#file, bytes, this.#position);
    } catch (error) {
      // A part may have been written. If it stays, the next write overwrites it.
      await this.#file.truncate(this.#position).catch(() => undefined);
      throw error;
    }
    this.#position += bytes.length;
    this.#crc = crc;
  }
}

/** The totals of a tally as a record of a journal; `undefined` before its first good listing. */
export function formatTotals(tally: Tally, selection: SeriesSelection): string | undefined {
  const totals = tally.exportPublishedTotals(selection);
  return totals && JSON.stringify(totals);
}

/** A journal that was read. */
export interface ReadJournal {
  /** The id of the snapshot that it continues. */
  readonly snapshotId: string;
  readonly records: readonly PublishedTotals[];
  /** Bytes after the last intact record. */
  readonly lostBytes: number;
}

/**
 * Reads a journal up to the first damaged record.
 *
 * @throws UnusableStateError if its first line is damaged, or errors of the file system unchanged
 */
export async function readJournal(files: FileSystem, path: string): Promise<ReadJournal> {
  const content = await readFile(files, path);
  checkJournalPrefix(content);
  const headerEnd = content.indexOf('\n') + 1;
  const headerLine = content.toString('utf8', 0, headerEnd);
  const header = parseJournalHeader(headerLine);
  if (header === undefined)
    throw new UnusableStateError(
      'damaged',
      'Expected a valid first line of the state journal, found another',
    );
  const records: PublishedTotals[] = [];
  let crc = crc32(headerLine);
  let intactEnd = headerEnd;
  for (const { text, end } of readLines(content.subarray(headerEnd))) {
    const record = parseRecord(text, crc);
    const entry = record && parseStateEntry(parseJson(record.json));
    if (record === undefined || entry?.[0] !== 'totals') break;
    records.push(entry);
    ({ crc } = record);
    intactEnd = headerEnd + end;
  }
  return { snapshotId: header.snapshotId, records, lostBytes: content.length - intactEnd };
}
