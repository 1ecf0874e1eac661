import { createHash, type Hash } from 'node:crypto';
import type { OpenFile } from './file-system.ts';

/** Bytes that are hashed and written at a time: the event loop runs between two writes. */
const MAX_WRITE_BYTES = 64 * 1024;

/** Writes bytes at a position of a file, in several calls if the file system takes only a part of them. */
export async function writeFully(file: OpenFile, bytes: Buffer, position: number): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    const { bytesWritten } = await file.write(bytes, offset, bytes.length - offset, position + offset);
    offset += bytesWritten;
  }
}

/** A position to which a {@link LineWriter} can rewind. */
export interface Mark {
  readonly position: number;
  readonly hash: Hash;
  readonly lines: readonly string[];
  readonly length: number;
}

/** Writes buffered lines to a file and hashes them. It can rewind to an earlier position and overwrite from there. */
export class LineWriter {
  readonly #file: OpenFile;
  #hash = createHash('sha256');
  /** File offset of the next write. */
  #position = 0;
  /** Buffered lines and their length in characters. */
  #lines: string[] = [];
  #length = 0;

  constructor(file: OpenFile) {
    this.#file = file;
  }

  /** Buffered characters. */
  get pendingLength(): number {
    return this.#length;
  }

  /** Buffers a line, which includes its line feed. */
  add(line: string): void {
    this.#lines.push(line);
    this.#length += line.length;
  }

  /** Writes the buffered lines. */
  async flush(): Promise<void> {
    const lines = Buffer.from(this.#lines.join(''));
    this.#lines = [];
    this.#length = 0;
    await this.#write(lines);
  }

  /** Writes the buffered lines, then lines that are bytes already. */
  async writeLines(lines: Buffer): Promise<void> {
    await this.flush();
    for (let start = 0; start < lines.length; start += MAX_WRITE_BYTES) {
      await this.#write(lines.subarray(start, start + MAX_WRITE_BYTES));
    }
  }

  async #write(bytes: Buffer): Promise<void> {
    this.#hash.update(bytes);
    await writeFully(this.#file, bytes, this.#position);
    this.#position += bytes.length;
  }

  mark(): Mark {
    return {
      position: this.#position,
      hash: this.#hash.copy(),
      lines: [...this.#lines],
      length: this.#length,
    };
  }

  /** Discards everything that was added after a mark. A mark can be used several times. */
  rewind({ position, hash, lines, length }: Mark): void {
    this.#position = position;
    this.#hash = hash.copy();
    this.#lines = [...lines];
    this.#length = length;
  }

  /** Writes the buffered lines and a last line, made from the hash of all before it, and returns the file size. */
  async finish(formatLastLine: (sha256: string) => string): Promise<number> {
    await this.flush();
    this.add(formatLastLine(this.#hash.copy().digest('hex')));
    await this.flush();
    // Before the last rewind, more bytes may have been written than the file now has.
    await this.#file.truncate(this.#position);
    return this.#position;
  }
}
