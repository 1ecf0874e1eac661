import { MAX_UNREAD_RESPONSE_BYTES } from '../runtime/limits.ts';
import { FairShare, type Share } from './fair-share.ts';
import type { WebResponse } from './http-messages.ts';

/** How long a client may take to read a response. */
const MAX_READING_MS = 60_000;

/** A response that its client has not read yet; giving way disconnects the client. */
export interface UnreadResponse extends Share {
  readonly body: WebResponse['body'];
  /** Monotonic time. */
  readonly sinceMs: number;
}

/**
 * Limits the time and the memory of responses that clients have not read yet. A body that several responses share
 * counts once. A new response closes those that take too long, and those that give way if there are too many bytes.
 */
export class UnreadResponses {
  readonly #responses = new FairShare<UnreadResponse>(Number.POSITIVE_INFINITY);

  add(added: UnreadResponse): void {
    const { body, sinceMs: nowMs } = added;
    this.#responses.add(added);
    while (this.#responses.evict(({ sinceMs }) => nowMs - sinceMs >= MAX_READING_MS));
    // Closing another reader of the same body would free nothing.
    while (
      this.#countBytes() > MAX_UNREAD_RESPONSE_BYTES &&
      this.#responses.evict((other) => other.body !== body)
    );
  }

  delete(response: UnreadResponse): void {
    this.#responses.delete(response);
  }

  #countBytes(): number {
    const bodies = new Set(this.#responses.entries.map(({ body }) => body));
    return [...bodies].reduce((bytes, body) => bytes + Buffer.byteLength(body), 0);
  }
}
