import { MAX_UNREAD_RESPONSE_BYTES } from '../runtime/limits.ts';
import { FairShare } from './fair-share.ts';
import type { WebResponse } from './response.ts';

/** How long a client may take to read a response. */
const MAX_READING_MS = 60_000;

/** A response that its client has not read yet. */
export interface UnreadResponse {
  readonly client: string;
  readonly body: WebResponse['body'];
  /** Monotonic time. */
  readonly sinceMs: number;
  /** Disconnects the client. */
  readonly close: () => void;
}

/**
 * Limits the time and the memory of responses that clients have not read yet. A body that several responses share
 * counts once. A new response closes those that take too long, and those that give way if there are too many bytes.
 */
export class UnreadResponses {
  readonly #responses = new FairShare<UnreadResponse>();
  readonly #readerCounts = new Map<WebResponse['body'], number>();
  #bytes = 0;

  add(added: UnreadResponse): void {
    const { body, sinceMs: nowMs } = added;
    this.#responses.add(added);
    const readerCount = this.#readerCounts.get(body) ?? 0;
    this.#readerCounts.set(body, readerCount + 1);
    if (readerCount === 0) this.#bytes += Buffer.byteLength(body);
    while (this.#close(({ sinceMs }) => nowMs - sinceMs >= MAX_READING_MS));
    // Closing another reader of the same body would free nothing.
    while (this.#bytes > MAX_UNREAD_RESPONSE_BYTES && this.#close((response) => response.body !== body));
  }

  delete(response: UnreadResponse): void {
    if (!this.#responses.delete(response)) return;
    const readerCount = (this.#readerCounts.get(response.body) ?? 0) - 1;
    if (readerCount > 0) {
      this.#readerCounts.set(response.body, readerCount);
    } else {
      this.#readerCounts.delete(response.body);
      this.#bytes -= Buffer.byteLength(response.body);
    }
  }

  /** Closes the matching response that gives way first; returns whether there was one. */
  #close(mayGiveWay: (response: UnreadResponse) => boolean): boolean {
    const victim = this.#responses.findVictim(mayGiveWay);
    if (victim === undefined) return false;
    this.delete(victim);
    victim.close();
    return true;
  }
}
