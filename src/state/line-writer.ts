import { createHash, type Hash } from 'node:crypto';
import type { OpenFile } from './file-system.ts';

/** A place in a file that is being written. */
export interface Mark {
  readonly position: number;
  readonly hash: Hash;
  readonly lines: readonly string[];
  readonly length: number;
}

/** Writes lines to a file in pieces, and hashes them; can go back to where it was and write on from there. */
export class LineWriter {
  readonly #file: OpenFile;
  #hash = createHash('sha256');
  /** Where the next piece goes in the file. */
  #position = 0;
  /** Lines of the next piece, and how many characters they have. */
  #lines: string[] = [];
  #length = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** Characters that wait to be written. */
  get pending(): number {
    return this.#length;
  }

  /** Adds a line, with its line feed; writes nothing yet. */
  add(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    const piece = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#length = 0;
    this.#hash.update(piece);
    for (let offset = 0; offset < piece.length;) {
      const { bytesWritten } = await this.#file.write(piece, offset, piece.length - offset, this.#position);
      offset += bytesWritten;
      this.#position += bytesWritten;
    }
  }

  mark(): Mark {
    return {
      position: this.#position,
      hash: this.#hash.copy(),
      lines: [...this.#lines],
      length: this.#length,
    };
  }

  /** What was added since is forgotten. A mark serves any number of times. */
  rewind({ position, hash, lines, length }: Mark): void {
    this.#position = position;
    this.#hash = hash.copy();
    this.#lines = [...lines];
    this.#length = length;
  }

  /** Writes what waits, and a last line made of the hash, in hexadecimal, over all before it; the size of the file. */
  async end(lastLine: (sha256: string) => string): Promise<number> {
    await this.flush();
    this.add(lastLine(this.#hash.copy().digest('hex')));
    await this.flush();
    // After going back, more may have been written than counts.
    await this.#file.truncate(this.#position);
    return this.#position;
  }
}
