import { ClientGroups } from './client-groups.ts';
import type { WebResponse } from './response.ts';

/** A response that its client has not read yet. */
interface UnreadResponse {
  readonly client: string;
  readonly body: WebResponse['body'];
  /** Disconnects the client. */
  readonly close: () => void;
}

/**
 * Limits the memory of responses that clients have not read yet. A body that several responses share counts once.
 * Above the limit, the oldest responses of the client with the most responses are closed, and new ones are sent: slow
 * clients cost other clients nothing.
 */
export class UnreadResponses {
  readonly #maxBytes: number;
  readonly #byClient = new ClientGroups<UnreadResponse>();
  readonly #readerCounts = new Map<WebResponse['body'], number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Adds a response and returns the function that removes it. */
  add(added: UnreadResponse): () => void {
    this.#byClient.add(added.client, added);
    const readerCount = this.#readerCounts.get(added.body) ?? 0;
    this.#readerCounts.set(added.body, readerCount + 1);
    if (readerCount === 0) this.#bytes += Buffer.byteLength(added.body);
    while (this.#bytes > this.#maxBytes) {
      // Closing another reader of the same body would free nothing.
      const slowest = this.#byClient.findInLargest(({ body }) => body !== added.body);
      if (slowest === undefined) break;
      this.#remove(slowest);
      slowest.close();
    }
    return () => this.#remove(added);
  }

  #remove(response: UnreadResponse): void {
    if (!this.#byClient.delete(response.client, response)) return;
    const readerCount = (this.#readerCounts.get(response.body) ?? 0) - 1;
    if (readerCount > 0) {
      this.#readerCounts.set(response.body, readerCount);
    } else {
      this.#readerCounts.delete(response.body);
      this.#bytes -= Buffer.byteLength(response.body);
    }
  }
}
