import { WINDOW_PADDING } from './swar.ts';

/** Enough for a slice of a body and a typical incomplete record before it. */
const SCRATCH_BYTES = 128 * 1024;

/** Memory that bodies are read in. All readers share it: reading is synchronous, and unread bytes are copied out. */
export class ScratchBuffer {
  readonly #shared = new Uint8Array(SCRATCH_BYTES);

  /** Returns memory for `length` bytes and the zeroed padding after them. */
  reserve(length: number): Uint8Array<ArrayBuffer> {
    const needed = length + WINDOW_PADDING;
    const buffer = needed <= SCRATCH_BYTES ? this.#shared : new Uint8Array(needed);
    return buffer.fill(0, length, needed);
  }
}

/** Bytes of a body that have arrived and are not read yet. */
export class InputBuffer {
  #chunks: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Appends a chunk, which must not change until it is read or {@link copyLastChunk} is called. */
  append(bytes: Uint8Array): void {
    this.#chunks.push(bytes);
    this.#length += bytes.length;
  }

  /** Copies the last chunk, so that the caller may overwrite its memory. */
  copyLastChunk(): void {
    const last = this.#chunks.pop();
    if (last !== undefined) this.#chunks.push(last.slice());
  }

  copyTo(target: Uint8Array): void {
    let offset = 0;
    for (const chunk of this.#chunks) {
      target.set(chunk, offset);
      offset += chunk.length;
    }
  }

  /** Drops the first `consumed` bytes; `copied` holds what {@link copyTo} wrote. */
  discard(copied: Uint8Array, consumed: number): void {
    this.#chunks = consumed === this.#length ? [] : [copied.slice(consumed, this.#length)];
    this.#length -= consumed;
  }
}
