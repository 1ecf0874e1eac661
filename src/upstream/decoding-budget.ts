import { UpstreamError } from './errors.ts';

/** The part of a {@link DecodingBudget} that one body has used, through all its content codings. */
export interface DecodingShare {
  bytes: number;
  /** Called if this body is the largest one beyond the limit. */
  readonly fail: (error: UpstreamError) => void;
}

/**
 * Limits the decoded bytes of all bodies that are being read at a time.
 *
 * Beyond the limit the largest body fails, so that small ones are not affected by a few that expand without end. The
 * bytes of a failed body are free again at once.
 */
export class DecodingBudget {
  readonly limitBytes: number;
  #usedBytes = 0;
  readonly #shares = new Set<DecodingShare>();

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** Decoded bytes of the bodies that are being read. */
  get usedBytes(): number {
    return this.#usedBytes;
  }

  /** Starts to count a body. */
  start(fail: DecodingShare['fail']): DecodingShare {
    const share = { bytes: 0, fail };
    this.#shares.add(share);
    return share;
  }

  /** Counts a chunk before it is passed on, unless its body has ended. */
  add(share: DecodingShare, bytes: number): void {
    if (!this.#shares.has(share)) return;
    share.bytes += bytes;
    this.#usedBytes += bytes;
    while (this.#usedBytes > this.limitBytes) this.#failLargest();
  }

  /** Frees the bytes of a body. */
  end(share: DecodingShare): void {
    if (this.#shares.delete(share)) this.#usedBytes -= share.bytes;
  }

  /** Beyond the limit there is at least one body. */
  #failLargest(): void {
    const [largest] = [...this.#shares].toSorted((one, other) => other.bytes - one.bytes);
    if (largest === undefined) return;
    this.end(largest);
    const message = `The responses that are being read exceed ${this.limitBytes} bytes together, and this one is the largest`;
    largest.fail(new UpstreamError('too_large', message));
  }
}
