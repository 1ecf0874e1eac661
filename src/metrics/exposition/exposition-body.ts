/** The first part of an exposition: families of service codes, which change with polls only. */
export interface ExpositionHead {
  /** Rendered lines, which the head shares with the cache of the renderer. */
  readonly chunks: readonly Buffer[];
  readonly byteLength: number;
}

/**
 * A rendered exposition: the head, and families of the process, which change more often. It is the same
 * object as long as its bytes are the same, as is its head, so that all readers share one copy.
 */
export class ExpositionBody {
  readonly head: ExpositionHead;
  readonly tail: Buffer;
  #bytes: Buffer | undefined;

  private constructor(head: ExpositionHead, tail: Buffer) {
    this.head = head;
    this.tail = tail;
  }

  /** Creates a body, or returns the previous one if it has the same chunks and bytes. */
  static createAfter(
    previous: ExpositionBody | undefined,
    headChunks: readonly Buffer[],
    tail: Buffer,
  ): ExpositionBody {
    const hasSameHead = previous !== undefined && areEqual(previous.head.chunks, headChunks);
    if (hasSameHead && previous.tail.equals(tail)) return previous;
    const head = hasSameHead ? previous.head : createHead(headChunks);
    return new ExpositionBody(head, tail);
  }

  get byteLength(): number {
    return this.head.byteLength + this.tail.length;
  }

  /** The exposition as readers of plain text get it. */
  get bytes(): Buffer {
    this.#bytes ??= Buffer.concat([...this.head.chunks, this.tail], this.byteLength);
    return this.#bytes;
  }
}

function createHead(chunks: readonly Buffer[]): ExpositionHead {
  return { chunks, byteLength: chunks.reduce((sum, { length }) => sum + length, 0) };
}

/** Most chunks come from the renderer's cache and are the same objects: no need to compare their bytes. */
function areEqual(before: readonly Buffer[], now: readonly Buffer[]): boolean {
  return (
    before.length === now.length &&
    now.every((chunk, index) => {
      const old = before[index];
      return chunk === old || (old !== undefined && chunk.equals(old));
    })
  );
}
