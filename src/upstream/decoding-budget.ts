import { UpstreamError } from './errors.ts';

/**
 * Limits the decoded bytes of all bodies that are being read at a time.
 *
 * Beyond the limit the largest body fails, so that small ones are not affected by a few that expand without end. The
 * bytes of a failed body are free again at once.
 */
export class DecodingBudget {
  readonly #limitBytes: number;
  #usedBytes = 0;
  readonly #shares = new Set<DecodingShare>();

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  get limitBytes(): number {
    return this.#limitBytes;
  }

  /** Decoded bytes of the bodies that are being read. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Starts to count a body; dispose of the share when the body has been read. */
  start(signal: AbortSignal): DecodingShare {
    const share: DecodingShare = new DecodingShare(signal, {
      onAdd: (bytes) => {
        this.#usedBytes += bytes;
        while (this.#usedBytes > this.#limitBytes && this.#shares.size > 0) this.#evictLargest();
      },
      onEnd: (bytes) => {
        if (this.#shares.delete(share)) this.#usedBytes -= bytes;
      },
    });
    this.#shares.add(share);
    return share;
  }

  #evictLargest(): void {
    const [largest] = [...this.#shares].toSorted((one, other) => other.bytes - one.bytes);
    largest?.fail(
      new UpstreamError(
        'too_large',
        `The responses that are being read exceed ${this.#limitBytes} bytes together, and this one is the largest`,
      ),
    );
  }
}

interface ShareListener {
  readonly onAdd: (bytes: number) => void;
  readonly onEnd: (bytes: number) => void;
}

/** The part of a {@link DecodingBudget} that one body has used, through all its content codings. */
export class DecodingShare implements Disposable {
  readonly #signal: AbortSignal;
  readonly #listener: ShareListener;
  #bytes = 0;
  #failure: UpstreamError | undefined;

  constructor(signal: AbortSignal, listener: ShareListener) {
    this.#signal = signal;
    this.#listener = listener;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Counts a chunk before it is passed on.
   *
   * @throws the signal's reason if it has aborted, or an UpstreamError `too_large` if this body had to fail
   */
  add(bytes: number): void {
    this.#signal.throwIfAborted();
    if (this.#failure === undefined) {
      this.#bytes += bytes;
      this.#listener.onAdd(bytes);
    }
    // `onAdd` may have failed this body or another one.
    if (this.#failure !== undefined) throw this.#failure;
  }

  fail(error: UpstreamError): void {
    this.#failure = error;
    this[Symbol.dispose]();
  }

  /** Returns the bytes to the budget. */
  [Symbol.dispose](): void {
    this.#listener.onEnd(this.#bytes);
  }
}
