import { AccumulatorPool } from '../../../src/tally/accumulator-pool.ts';
import { RecordAggregator } from '../../oracle/tally/record-aggregator.ts';
import { nodeFileSystem, type FileSystem, type OpenFile } from '../../../src/state/file-system.ts';
import type { StateHeader } from '../../../src/state/format.ts';
import { readState } from '../../../src/state/read-state.ts';
import { restoreTally } from '../../../src/state/saved-code.ts';
import type { PendingCommit } from '../../../src/tally/pending-commit.ts';
import type { StateEntry } from '../../../src/tally/state-entry.ts';
import { Tally } from '../../../src/tally/tally.ts';
import { buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';

export const NOW_MS = Date.UTC(2026, 0, 1);

export function newTally(serviceCode: string): Tally {
  return new Tally({
    serviceCode,
    maxLabelSets: 1000,
    stallAfterMs: 60_000,
    rememberTasksForMs: 10,
    perTask: true,
    maxTasks: 2,
  });
}

/** Commits the next listing, in which each task has received 1000 bytes more than in the previous one. */
export function commitNext(tally: Tally, tasks: number): void {
  beginCommitOfNext(tally, tasks).complete();
}

/** Begins the commit of the next listing; see {@link commitNext}. */
export function beginCommitOfNext(tally: Tally, tasks: number): PendingCommit {
  const ordinal = tally.listings + 1;
  const listing = new RecordAggregator(new AccumulatorPool());
  for (let number = 0; number < tasks; number += 1) {
    const inputBytes = 1000 * ordinal;
    const outputs = ['flv', 'rtmp', 'm3u8'].map((format) =>
      buildOutputRecord({ format, httpOutputBytes: ordinal }),
    );
    listing.addTask(
      buildTaskRecord({ id: `task-${number}`, vsId: `server-${number % 20}`, inputBytes, outputs }),
    );
  }
  listing.finish();
  return tally.beginCommit(listing, { wallMs: NOW_MS + ordinal, monotonicMs: 3_600_000 * ordinal });
}

/** Creates a tally with one committed listing. */
export function tallyOf(serviceCode: string, tasks: number): Tally {
  const tally = newTally(serviceCode);
  commitNext(tally, tasks);
  return tally;
}

/** Returns the complete state of a tally. */
export function entriesOf(tally: Tally | undefined): readonly StateEntry[] {
  return [...(tally?.exportState() ?? [])];
}

/** Returns the distinct input bytes of all tasks in the state: one value if all tasks are from the same listing. */
export function inputBytesIn(tally: Tally | undefined): readonly number[] {
  const bytes = entriesOf(tally).flatMap((entry) => (entry[0] === 'task' ? [entry[8]] : []));
  return [...new Set(bytes)];
}

export const HEADER: StateHeader = { createdMs: NOW_MS, id: 'snapshot-1', journalId: undefined };

/** Reads a state file without its journal and restores all its service codes. */
export async function loadState(
  path: string,
  files: FileSystem = nodeFileSystem,
): Promise<StateHeader & { readonly tallies: ReadonlyMap<string, Tally> }> {
  const state = await readState(files, path);
  const now = { wallMs: NOW_MS, monotonicMs: 0 };
  const tallies = [...state.codes].map(([serviceCode, saved]): [string, Tally] => [
    serviceCode,
    restoreTally(newTally(serviceCode), saved, now),
  ]);
  return { ...state, tallies: new Map(tallies) };
}

type Operation = (...args: unknown[]) => Promise<unknown>;

/** A file system that calls `onOperation` before each operation on it or on its files. */
export function createHookedFileSystem(
  onOperation: (operation: string, run: Operation, args: readonly unknown[]) => void | Promise<void>,
): FileSystem {
  const hook = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (object, key) => {
        const value: unknown = Reflect.get(object, key);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          const run: Operation = async (...runArgs) => await Reflect.apply(value, object, runArgs);
          await onOperation(String(key), run, args);
          const result = await run(...args);
          return typeof result === 'object' && key === 'open' ? hook(result as object) : result;
        };
      },
    });
  return hook(nodeFileSystem);
}

/** A file system that calls `onWrite` before each write, with its size in bytes. */
export function filesWithWriteHook(onWrite: (bytes: number) => void | Promise<void>): FileSystem {
  return createHookedFileSystem((operation, _run, [, , bytes]) =>
    operation === 'write' ? onWrite(Number(bytes)) : undefined,
  );
}

/** A file system with a single file, in memory. */
export function createInMemoryFile(bytes: Uint8Array): FileSystem {
  const file = {
    stat: () => Promise.resolve({ size: bytes.length }),
    read: (into: Buffer, offset: number, length: number, position: number) => {
      into.set(bytes.subarray(position, position + length), offset);
      return Promise.resolve({ bytesRead: Math.min(length, bytes.length - position), buffer: into });
    },
    close: () => Promise.resolve(),
  };
  return { ...nodeFileSystem, open: () => Promise.resolve(file as unknown as OpenFile) };
}

/** Creates the error of a full disk. */
export function createDiskFullError(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}
