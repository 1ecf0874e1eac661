import type { ListingResponse, UpstreamClient } from './client.ts';

type Client = Pick<UpstreamClient, 'requestListing'> & AsyncDisposable;

/** A client that counts its requests in progress. */
class CountedClient {
  readonly client: Client;
  #activeRequests = 0;
  #onIdle: (() => void) | undefined;

  constructor(client: Client) {
    this.client = client;
  }

  async requestListing(...args: Parameters<Client['requestListing']>): Promise<ListingResponse> {
    this.#activeRequests += 1;
    try {
      return await this.client.requestListing(...args);
    } finally {
      this.#activeRequests -= 1;
      if (this.#activeRequests === 0) this.#onIdle?.();
    }
  }

  /** Closes the client after its last request. Nothing may send a new request meanwhile. */
  async closeWhenIdle(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
      if (this.#activeRequests === 0) resolve();
    });
    await this.client[Symbol.asyncDispose]();
  }
}

/**
 * A client that can be replaced. Requests in progress end on the client that they started on, which is closed after its
 * last one.
 */
export class RefCountedClient implements Client {
  #current: CountedClient;
  readonly #closing = new Set<Promise<void>>();

  constructor(client: Client) {
    this.#current = new CountedClient(client);
  }

  async requestListing(...args: Parameters<Client['requestListing']>): Promise<ListingResponse> {
    return await this.#current.requestListing(...args);
  }

  replace(client: Client): void {
    const closing = this.#current.closeWhenIdle().then(() => {
      this.#closing.delete(closing);
    });
    this.#closing.add(closing);
    this.#current = new CountedClient(client);
  }

  /** Aborts requests on the current client, and waits until the replaced ones are closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#current.client[Symbol.asyncDispose]();
    await Promise.all(this.#closing);
  }
}
