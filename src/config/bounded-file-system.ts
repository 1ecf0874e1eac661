import type { Clock } from '../runtime/clock.ts';
import { FileError, type ConfigFileSystem } from './files.ts';

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
  readonly #waiting: (() => void)[] = [];
  /** Calls that run or wait. */
  #callCount = 0;
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

  async #run<T>(path: string, call: () => Promise<T>): Promise<T> {
    await this.#acquire();
    if (this.#hangingCount === MAX_CONCURRENT_CALLS) {
      this.#release();
      throw createTimeoutError(path);
    }
    const ended = new AbortController();
    let isHanging = false;
    const result = call().finally(() => {
      ended.abort();
      if (isHanging) this.#hangingCount -= 1;
      this.#release();
    });
    const timedOut = this.#clock.sleep(CALL_TIMEOUT_MS, ended.signal).then(
      () => {
        isHanging = true;
        this.#hangingCount += 1;
        if (this.#hangingCount === MAX_CONCURRENT_CALLS) this.#resumeAll();
        throw createTimeoutError(path);
      },
      () => result,
    );
    return await Promise.race([result, timedOut]);
  }

  async #acquire(): Promise<void> {
    this.#callCount += 1;
    if (this.#callCount <= MAX_CONCURRENT_CALLS || this.#hangingCount === MAX_CONCURRENT_CALLS) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  #release(): void {
    this.#callCount -= 1;
    this.#waiting.shift()?.();
  }

  #resumeAll(): void {
    for (const resume of this.#waiting.splice(0)) resume();
  }
}

function createTimeoutError(path: string): FileError {
  return new FileError('ETIMEDOUT', path);
}
