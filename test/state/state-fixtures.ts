import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { machineFiles, type FileSystem, type OpenFile } from '../../src/state/file-system.ts';
import { readState, type Restored } from '../../src/state/read-state.ts';
import type { StateUnit } from '../../src/tally/state-unit.ts';
import { Tally } from '../../src/tally/tally.ts';
import { outputRecord, taskRecord } from '../support/task-record.ts';

export const NOW_MS = Date.UTC(2026, 0, 1);

/** A folder of the test's own; disposing of it removes it. */
export class Folder implements Disposable {
  readonly path = mkdtempSync(join(tmpdir(), 'xvs-state-'));

  file(name = 'state'): string {
    return join(this.path, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export function newTally(serviceCode: string): Tally {
  return new Tally({ serviceCode, maxLabelSets: 1000, stallAfterMs: 60_000, perTask: true, maxTasks: 2 });
}

/** Commits the next listing of so many tasks, each of which has received a thousand bytes more. */
export function commitNext(tally: Tally, tasks: number): void {
  const round = tally.listings + 1;
  const listing = tally.begin();
  for (let number = 0; number < tasks; number += 1) {
    const inputBytes = 1000 * round;
    const outputs = ['flv', 'rtmp', 'm3u8'].map((format) => outputRecord({ format, httpOutputBytes: round }));
    listing.task(taskRecord({ id: `task-${number}`, vsId: `server-${number % 20}`, inputBytes, outputs }));
  }
  tally.commit(listing, { wallMs: NOW_MS + round, monotonicMs: round });
}

/** A tally with one listing behind it. */
export function tallyOf(serviceCode: string, tasks: number): Tally {
  const tally = newTally(serviceCode);
  commitNext(tally, tasks);
  return tally;
}

/** Everything that a tally keeps. */
export function unitsOf(tally: Tally | undefined): readonly StateUnit[] {
  return [...(tally?.state() ?? [])];
}

/** Of all tasks that are kept the input bytes, each value once: one alone where they are of one listing. */
export function inputBytesIn(tally: Tally | undefined): readonly number[] {
  const bytes = unitsOf(tally).flatMap((unit) => (unit[0] === 'task' ? [unit[3]] : []));
  return [...new Set(bytes)];
}

/** Reads a state file; every service code in it is wanted. */
export function load(path: string, files: FileSystem = machineFiles): Promise<Restored> {
  return readState(files, path, newTally, { wallMs: NOW_MS, monotonicMs: 0 });
}

/** The machine's file system, with `onWrite` before each piece that is written. */
export function hookedFiles(onWrite: () => void | Promise<void>): FileSystem {
  return {
    ...machineFiles,
    open: async (path, flags, mode): Promise<OpenFile> => {
      const file = await machineFiles.open(path, flags, mode);
      const write: typeof file.write = async (...args: unknown[]) => {
        await onWrite();
        return await Reflect.apply(file.write, file, args);
      };
      return new Proxy(file, {
        get: (target, key) => {
          if (key === 'write') return write;
          const value: unknown = Reflect.get(target, key);
          return typeof value === 'function' ? value.bind(target) : value;
        },
      });
    },
  };
}

/** A file system that is one file, in memory. */
export function fileOf(bytes: Uint8Array): FileSystem {
  const file = {
    stat: () => Promise.resolve({ size: bytes.length }),
    read: (into: Buffer, offset: number, length: number, position: number) => {
      into.set(bytes.subarray(position, position + length), offset);
      return Promise.resolve({ bytesRead: Math.min(length, bytes.length - position), buffer: into });
    },
    close: () => Promise.resolve(),
  };
  return { ...machineFiles, open: () => Promise.resolve(file as unknown as OpenFile) };
}

/** What a full disk says. */
export function diskFull(): Error {
  return Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
}

/** A promise, and what resolves it. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
