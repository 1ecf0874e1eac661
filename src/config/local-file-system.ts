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
 * Makes a file system whose calls end within five seconds: a mount that hangs must not block the process.
 *
 * The operating system cannot abort a call that hangs, so each such call keeps its thread. At most two calls run at a
 * time; while both hang, further calls fail at once with `ETIMEDOUT`.
 */
export function boundFileSystem(files: ConfigFileSystem, clock: Clock) {
  const queue = new PQueue({ concurrency: MAX_CONCURRENT_CALLS });
  let hangingCount = 0;
  const countHanging = (change: number): void => {
    hangingCount += change;
    // Without a thread for them, calls still run, to fail at once.
    queue.concurrency = Math.max(1, MAX_CONCURRENT_CALLS - hangingCount);
  };
  const run = <T>(call: (path: string) => Promise<T>, path: string): Promise<T> =>
    queue.add(async () => {
      if (hangingCount === MAX_CONCURRENT_CALLS) throw createFileError('ETIMEDOUT', path);
      const ended = new AbortController();
      const result = call(path).finally(() => ended.abort());
      const timedOut = clock.sleep(CALL_TIMEOUT_MS, ended.signal).then(
        () => {
          countHanging(1);
          result.catch(() => undefined).finally(() => countHanging(-1));
          throw createFileError('ETIMEDOUT', path);
        },
        () => result,
      );
      return await Promise.race([result, timedOut]);
    });
  return {
    readFile: (path: string) => run(files.readFile, path),
    listFolder: (path: string) => run(files.listFolder, path),
    readStamp: (path: string) => run(files.readStamp, path),
    /** Whether a call is still running although it has failed with `ETIMEDOUT`. */
    isHanging: () => hangingCount > 0,
  };
}

/** The file system of this machine. There is one per process, like the threads that its calls occupy. */
export const LOCAL_FILE_SYSTEM = boundFileSystem(
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
