import { WINDOW_PADDING } from './words.ts';

/** Room for a slice of a body and for what is usually left of the one before. */
const USUAL_BYTES = 128 * 1024;

/** Memory to read bytes in. One for all bodies: a reading is never interrupted, and what it leaves is copied. */
export class ReadingRoom {
  readonly #usual = new Uint8Array(USUAL_BYTES);

  /** Room for so many bytes and the padding behind them, which is 0 already. */
  take(length: number): Uint8Array<ArrayBuffer> {
    const needed = length + WINDOW_PADDING;
    const room = needed <= USUAL_BYTES ? this.#usual : new Uint8Array(needed);
    return room.fill(0, length, needed);
  }
}

/** The bytes of a body that have come and are not read yet. */
export class Backlog {
  #pieces: Uint8Array[] = [];
  #length = 0;

  get length(): number {
    return this.#length;
  }

  /** Takes what comes next; `bytes` must not change until they are read or {@link keep} was called. */
  add(bytes: Uint8Array): void {
    this.#pieces.push(bytes);
    this.#length += bytes.length;
  }

  /** Makes the last piece its own: whoever gave it may write over it. */
  keep(): void {
    const last = this.#pieces.pop();
    if (last !== undefined) this.#pieces.push(last.slice());
  }

  /** Lays all of it out, one piece behind the other. */
  copyTo(room: Uint8Array): void {
    let at = 0;
    for (const piece of this.#pieces) {
      room.set(piece, at);
      at += piece.length;
    }
  }

  /** What is left in the room where it was laid out: the bytes from there on. */
  leave(room: Uint8Array, from: number): void {
    this.#pieces = from === this.#length ? [] : [room.slice(from, this.#length)];
    this.#length -= from;
  }
}
