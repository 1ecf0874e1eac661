import { createHash } from 'node:crypto';
import { filesMatching } from './code-globs.ts';
import type { ConfigurationFiles } from './files.ts';
import { errorCode } from './files.ts';
import { inBatches } from './in-batches.ts';

/** What was found at a path. */
interface Note {
  /** The hash of its text, or how it could not be read; of a pattern, the names. */
  readonly found: string;
  /** The stamp of the file, taken before it was read. */
  seenStamp: string;
  /** The stamp with which it need not be read again. */
  trustedStamp: string | undefined;
}

/**
 * Reads files and notes what was found, by hash, so that it can be told whether it would be found now: by the stamps of
 * the files, for there may be thousands of them.
 *
 * A stamp is trusted when it was the same at two looks, and what was read at the second was as before: a file system's
 * clock may tick too slowly to tell two writes apart that follow one another.
 */
export class FileNotes {
  readonly #files: ConfigurationFiles;
  readonly #notes = new Map<string, Note>();
  readonly #globs = new Map<string, string>();
  #fingerprint: string | undefined;

  constructor(files: ConfigurationFiles) {
    this.#files = files;
  }

  /** All that was found, as one text that no secret can be told from. */
  get fingerprint(): string {
    this.#fingerprint ??= hashOf(
      JSON.stringify([
        [...this.#notes].map(([path, { found }]) => [path, found]).toSorted(byPath),
        [...this.#globs].toSorted(byPath),
      ]),
    );
    return this.#fingerprint;
  }

  /** Notes also that a file could not be read, and how: it may come. */
  readonly readFile = async (path: string): Promise<string> => {
    const seenStamp = await this.#stampOf(path);
    const note = (found: string): void => {
      this.#notes.set(path, { found, seenStamp, trustedStamp: undefined });
    };
    try {
      const text = await this.#files.readFile(path);
      note(hashOf(text));
      return text;
    } catch (error) {
      note(errorCode(error));
      throw error;
    }
  };

  /** Notes which files there are, not what else the folder holds. */
  readonly filesMatching = async (glob: string): Promise<readonly string[]> => {
    try {
      const paths = await filesMatching(glob, this.#files.listFolder);
      this.#globs.set(glob, paths.join('\n'));
      return paths;
    } catch (error) {
      this.#globs.set(glob, errorCode(error));
      throw error;
    }
  };

  /** The fingerprint that the same files have now. */
  async look(): Promise<string> {
    const now = new FileNotes(this.#files);
    for (const glob of this.#globs.keys()) await now.filesMatching(glob).catch(() => undefined);
    await inBatches([...this.#notes], async ([path, note]) => {
      now.#notes.set(path, await this.#lookAt(path, note));
    });
    return this.#isAsIn(now) ? this.fingerprint : now.fingerprint;
  }

  async #lookAt(path: string, note: Note): Promise<Note> {
    const stamp = await this.#stampOf(path);
    if (stamp === note.trustedStamp) return note;
    const found = await this.#files.readFile(path).then(hashOf, errorCode);
    if (found !== note.found) return { found, seenStamp: stamp, trustedStamp: undefined };
    note.trustedStamp = stamp === note.seenStamp ? stamp : undefined;
    note.seenStamp = stamp;
    return note;
  }

  #isAsIn(other: FileNotes): boolean {
    return (
      [...this.#globs].every(([glob, names]) => other.#globs.get(glob) === names) &&
      [...this.#notes].every(([path, note]) => other.#notes.get(path) === note)
    );
  }

  #stampOf(path: string): Promise<string> {
    return this.#files.stampOf(path).catch(errorCode);
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

function byPath([one]: readonly string[], [other]: readonly string[]): number {
  return (one ?? '') < (other ?? '') ? -1 : 1;
}
