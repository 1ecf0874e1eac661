import { constants } from 'node:fs';
import * as fs from 'node:fs/promises';
import PQueue from 'p-queue';
import { systemClock, type Clock } from '../runtime/clock.ts';
import { createFileError, MAX_FILE_MIB, NOT_REGULAR, type ConfigFileSystem } from './files.ts';

const MAX_FILE_BYTES = MAX_FILE_MIB * 1024 * 1024;
const CALL_TIMEOUT_MS = 5000;
/** Half the threads that Node.js has for files, name resolution, compression and password hashes. */
const MAX_CONCURRENT_CALLS = 2;

/**
 * A file system whose calls end within five seconds: a mount that hangs must not block the process.
 *
 * The operating system cannot abort a call that hangs, so each such call keeps its thread. At most two calls run at a
 * time; while both hang, further calls fail at once with `ETIMEDOUT`.
 */
export class BoundedFileSystem implements ConfigFileSystem {
  readonly #files: ConfigFileSystem;
  readonly #clock: Clock;
  readonly #queue = new PQueue({ concurrency: MAX_CONCURRENT_CALLS });
  #hangingCount = 0;

  constructor(files: ConfigFileSystem, clock: Clock) {
    this.#files = files;
    this.#clock = clock;
  }

  /** Whether a call is still running although it has failed with `ETIMEDOUT`. */
  get isHanging(): boolean {
    return this.#hangingCount > 0;
  }

  readonly readFile = (path: string): Promise<string> => this.#run(path, () => this.#files.readFile(path));

  readonly listFolder = (path: string): Promise<readonly string[]> =>
    this.#run(path, () => this.#files.listFolder(path));

  readonly readStamp = (path: string): Promise<string> => this.#run(path, () => this.#files.readStamp(path));

  #run<T>(path: string, call: () => Promise<T>): Promise<T> {
    return this.#queue.add(async () => {
      if (this.#hangingCount === MAX_CONCURRENT_CALLS) throw createFileError('ETIMEDOUT', path);
      const ended = new AbortController();
      const result = call().finally(() => ended.abort());
      const timedOut = this.#clock.sleep(CALL_TIMEOUT_MS, ended.signal).then(
        () => {
          this.#countHanging(1);
          result.catch(() => undefined).finally(() => this.#countHanging(-1));
          throw createFileError('ETIMEDOUT', path);
        },
        () => result,
      );
      return await Promise.race([result, timedOut]);
    });
  }

  /** Without a thread for them, calls still run, to fail at once. */
  #countHanging(change: number): void {
    this.#hangingCount += change;
    this.#queue.concurrency = Math.max(1, MAX_CONCURRENT_CALLS - this.#hangingCount);
  }
}

/** The file system of this machine. There is one per process, like the threads that its calls occupy. */
export const LOCAL_FILE_SYSTEM = new BoundedFileSystem(
  {
    readFile: readRegularFile,
    listFolder: (path) => fs.readdir(path),
    async readStamp(path) {
      // Without atime, which changes with every read.
      const { dev, ino, size, mtimeNs, ctimeNs } = await fs.stat(path, { bigint: true });
      return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
    },
  },
  systemClock,
);

async function readRegularFile(path: string): Promise<string> {
  // Without O_NONBLOCK, opening a FIFO waits for a writer.
  const file = await fs.open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw createFileError(stats.isDirectory() ? 'EISDIR' : NOT_REGULAR, path);
    if (stats.size > MAX_FILE_BYTES) throw createFileError('EFBIG', path);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
