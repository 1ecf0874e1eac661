import { createHash } from 'node:crypto';
import { raceAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { findMatchingFiles, readErrorCode, type ConfigFileSystem } from './files.ts';

const CHECK_INTERVAL_MS = 5000;
/** A changed file must stay the same for this time, because half a secret would also be accepted as a secret. */
const SETTLE_TIME_MS = 1000;
/** One check a minute reads all files: two writes within one tick of the file system's clock have the same stamp. */
const CHECKS_PER_READ = 12;

interface KnownFile {
  readonly stamp: string;
  /** Hash of the text, or the error code. */
  readonly found: string;
}

/** Reads files and remembers a hash of each, to detect whether reading them again would give something else. */
export class WatchedFiles {
  readonly #files: ConfigFileSystem;
  #byPath = new Map<string, KnownFile>();
  readonly #globs = new Map<string, string>();

  constructor(files: ConfigFileSystem) {
    this.#files = files;
  }

  /** Also remembers that a file could not be read: it may be created later. */
  readonly readFile = async (path: string): Promise<string> => {
    // First, so that a write while the file is read changes it.
    const stamp = await this.#readStamp(path);
    try {
      const text = await this.#files.readFile(path);
      this.#byPath.set(path, { stamp, found: createHash('sha256').update(text).digest('base64') });
      return text;
    } catch (error) {
      this.#byPath.set(path, { stamp, found: readErrorCode(error) });
      throw error;
    }
  };

  /** Remembers which files match, not what else is in the folder. */
  readonly findMatchingFiles = async (glob: string): Promise<readonly string[]> => {
    try {
      const paths = await findMatchingFiles(glob, this.#files.listFolder);
      this.#globs.set(glob, paths.join('\n'));
      return paths;
    } catch (error) {
      this.#globs.set(glob, readErrorCode(error));
      throw error;
    }
  };

  /**
   * Reads the same files again, and returns itself if they are the same.
   *
   * @param isThorough - also reads the files that `stat` says are the same
   */
  async check(isThorough: boolean): Promise<WatchedFiles> {
    const current = new WatchedFiles(this.#files);
    for (const glob of this.#globs.keys()) await current.findMatchingFiles(glob).catch(() => undefined);
    const checks = [...this.#byPath].map(async ([path, known]) => {
      const isSame = !isThorough && (await this.#readStamp(path)) === known.stamp;
      if (isSame) current.#byPath.set(path, known);
      else await current.readFile(path).catch(() => undefined);
    });
    await Promise.all(checks);
    if (!this.equals(current)) return current;
    this.#byPath = current.#byPath;
    return this;
  }

  /** Whether the same files were read, with the same texts. */
  equals(other: WatchedFiles): boolean {
    return (
      this.#byPath.size === other.#byPath.size &&
      this.#globs.size === other.#globs.size &&
      [...this.#globs].every(([glob, paths]) => other.#globs.get(glob) === paths) &&
      [...this.#byPath].every(([path, { found }]) => other.#byPath.get(path)?.found === found)
    );
  }

  #readStamp(path: string): Promise<string> {
    return this.#files.readStamp(path).catch(readErrorCode);
  }
}

export interface WatchOptions {
  readonly source: {
    readonly isWatched: boolean;
    /** The files of the last attempt to load. */
    readonly files: WatchedFiles;
  };
  readonly clock: Clock;
  /** Called after a file has changed and settled; has to reload. */
  readonly onChange: () => Promise<unknown>;
}

/**
 * Checks the files of a watched source until the signal aborts, then rejects with its reason. File system events would
 * miss changes: files are replaced by rename or live on network mounts, and Kubernetes swaps a link to their folder.
 */
export async function watchFiles(
  { source, clock, onChange }: WatchOptions,
  signal: AbortSignal,
): Promise<never> {
  for (let checks = 1; ; checks += 1) {
    await clock.sleep(CHECK_INTERVAL_MS, signal);
    if (!source.isWatched) continue;
    let known = source.files;
    // The file system may take its time.
    let current = await raceAbort(known.check(checks % CHECKS_PER_READ === 0), signal);
    while (current !== known) {
      await clock.sleep(SETTLE_TIME_MS, signal);
      known = current;
      current = await raceAbort(known.check(true), signal);
    }
    if (!current.equals(source.files)) await raceAbort(onChange(), signal);
  }
}
