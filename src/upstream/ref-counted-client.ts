import type { BodyConsumer, ListingResponse, ListingTarget, UpstreamClient } from './client.ts';

type Client = Pick<UpstreamClient, 'requestListing'> & AsyncDisposable;

/** A client with the requests that are under way on it. */
class Tenancy {
  readonly client: Client;
  #requests = 0;
  #leave: (() => void) | undefined;

  constructor(client: Client) {
    this.client = client;
  }

  async requestListing(...request: Parameters<Client['requestListing']>): Promise<ListingResponse> {
    this.#requests += 1;
    try {
      return await this.client.requestListing(...request);
    } finally {
      this.#requests -= 1;
      if (this.#requests === 0) this.#leave?.();
    }
  }

  /** Closes the client once no request is under way on it; to be called when none can come any more. */
  async end(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#leave = resolve;
      if (this.#requests === 0) resolve();
    });
    await this.client[Symbol.asyncDispose]();
  }
}

/**
 * A client whose place another one can take: requests under way end on the one that they began on, which is closed
 * after the last of them.
 */
export class ReplaceableClient implements Client {
  #tenancy: Tenancy;
  /** Clients that wait for their last request. */
  readonly #leaving = new Set<Promise<void>>();

  constructor(client: Client) {
    this.#tenancy = new Tenancy(client);
  }

  /** As the client of now does it. */
  async requestListing(
    target: ListingTarget,
    onBody: BodyConsumer,
    signal: AbortSignal,
  ): Promise<ListingResponse> {
    return await this.#tenancy.requestListing(target, onBody, signal);
  }

  replace(client: Client): void {
    const leaving = this.#tenancy.end().then(() => {
      this.#leaving.delete(leaving);
    });
    this.#leaving.add(leaving);
    this.#tenancy = new Tenancy(client);
  }

  /** Ends what is under way on the client of now, and waits until every other one is closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#tenancy.client[Symbol.asyncDispose]();
    await Promise.all(this.#leaving);
  }
}
