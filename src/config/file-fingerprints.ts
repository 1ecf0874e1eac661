import { createHash } from 'node:crypto';
import { findMatchingFiles } from './files.ts';
import type { ConfigFileSystem } from './files.ts';
import { readErrorCode } from './files.ts';
import { mapConcurrent } from '../runtime/concurrency.ts';

interface FileFingerprint {
  /** Hash of the text, or the error code. */
  readonly found: string;
  /** Stamp before the last read. */
  lastStamp: string;
  /** A file with this stamp is not read again. */
  trustedStamp: string | undefined;
}

/**
 * Reads files and remembers the hash of each, to detect later whether reading them again would give something else.
 * It compares stamps (`stat`) first, because there may be thousands of files.
 *
 * A stamp is trusted once two consecutive checks found the same stamp and the same text: two writes within one tick of
 * the file system's clock have the same stamp. Stamps alone would miss the second write, and would reload after a
 * file was replaced by an identical one.
 */
export class FileFingerprints {
  readonly #files: ConfigFileSystem;
  readonly #byPath = new Map<string, FileFingerprint>();
  readonly #globs = new Map<string, string>();
  #fingerprint: string | undefined;

  constructor(files: ConfigFileSystem) {
    this.#files = files;
  }

  /** Hash of everything that was read; reveals no secret. */
  get fingerprint(): string {
    this.#fingerprint ??= hashText(
      JSON.stringify([
        [...this.#byPath].map(([path, { found }]) => [path, found]).toSorted(compareByPath),
        [...this.#globs].toSorted(compareByPath),
      ]),
    );
    return this.#fingerprint;
  }

  /** Also remembers that a file could not be read: it may be created later. */
  readonly readFile = async (path: string): Promise<string> => {
    const lastStamp = await this.#readStamp(path);
    const remember = (found: string): void => {
      this.#byPath.set(path, { found, lastStamp, trustedStamp: undefined });
    };
    try {
      const text = await this.#files.readFile(path);
      remember(hashText(text));
      return text;
    } catch (error) {
      remember(readErrorCode(error));
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

  /** Computes the fingerprint of the same files now. */
  async computeFingerprint(): Promise<string> {
    const current = new FileFingerprints(this.#files);
    for (const glob of this.#globs.keys()) await current.findMatchingFiles(glob).catch(() => undefined);
    await mapConcurrent([...this.#byPath], async ([path, file]) => {
      current.#byPath.set(path, await this.#checkFile(path, file));
    });
    return this.#isSameAs(current) ? this.fingerprint : current.fingerprint;
  }

  async #checkFile(path: string, file: FileFingerprint): Promise<FileFingerprint> {
    const stamp = await this.#readStamp(path);
    if (stamp === file.trustedStamp) return file;
    const found = await this.#files.readFile(path).then(hashText, readErrorCode);
    if (found !== file.found) return { found, lastStamp: stamp, trustedStamp: undefined };
    file.trustedStamp = stamp === file.lastStamp ? stamp : undefined;
    file.lastStamp = stamp;
    return file;
  }

  #isSameAs(other: FileFingerprints): boolean {
    return (
      [...this.#globs].every(([glob, names]) => other.#globs.get(glob) === names) &&
      [...this.#byPath].every(([path, file]) => other.#byPath.get(path) === file)
    );
  }

  #readStamp(path: string): Promise<string> {
    return this.#files.readStamp(path).catch(readErrorCode);
  }
}

function hashText(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function compareByPath([one]: readonly string[], [other]: readonly string[]): number {
  return (one ?? '') < (other ?? '') ? -1 : 1;
}
