import type { BodyConsumer, ListingResponse, ListingTarget } from '../../src/upstream/client.ts';
import { PUBLISHED_SCHEME } from './published-scheme.ts';

export const EMPTY_LISTING = '{"ret":0,"user_list":[],"task_list":[]}';

export const TARGET: ListingTarget = {
  serviceCode: 'TESTING',
  baseUrl: 'http://service.test',
  secret: 'a-secret',
  signing: PUBLISHED_SCHEME,
  timeoutMs: 10_000,
};

/** What the service does to one request. */
export interface Answer {
  readonly body?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
  /** Thrown behind the body. */
  readonly error?: Error;
  /** The answer waits for this. */
  readonly until?: Promise<void>;
}

/** A client without a network: `answer` says what each request gets. Notes how many run at a time. */
export class ScriptedClient {
  answer: (request: number) => Answer = () => ({});
  requests = 0;
  running = 0;
  mostRunning = 0;

  async requestListing(
    _target: ListingTarget,
    onBody: BodyConsumer,
    signal: AbortSignal,
  ): Promise<ListingResponse> {
    const { body = EMPTY_LISTING, status = 200, retryAfterMs, error, until } = this.answer(this.requests);
    this.requests += 1;
    this.running += 1;
    this.mostRunning = Math.max(this.mostRunning, this.running);
    try {
      await until;
      signal.throwIfAborted();
      onBody(Buffer.from(body), status);
      if (error !== undefined) throw error;
      return { status, bytes: body.length, ...(retryAfterMs !== undefined && { retryAfterMs }) };
    } finally {
      this.running -= 1;
    }
  }
}
