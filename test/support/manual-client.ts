import { setImmediate as nextTurn } from 'node:timers/promises';
import type { BodyConsumer, ListingTarget, UpstreamClient } from '../../src/upstream/client.ts';
import type { RequestObserver, ResponseHead } from '../../src/upstream/request-observer.ts';
import type { ManualClock } from './manual-clock.ts';
import { PUBLISHED_SCHEME } from './published-scheme.ts';

/** Target of polls in tests. A manual client does not enforce the deadline. */
export const TARGET: ListingTarget = {
  serviceCode: 'TESTING',
  baseUrl: 'http://127.0.0.1',
  secret: 'abc',
  signing: PUBLISHED_SCHEME,
  timeoutMs: 10_000,
};

/** Creates a listing with one user and one task that has received `inputBytes`. */
export function createListingBody(inputBytes: number, ret: number = 0): string {
  return JSON.stringify({
    ret,
    user_list: [{ vs_id: 'server-1', client_version: '451', device_type: '10' }],
    task_list: [{ id: 'task-1', vs_id: 'server-1', input_bytes: inputBytes, inputs: [], outputs: [] }],
  });
}

/** The head of a response with status 200 and without headers, apart from the given overrides. */
export function createHead(overrides: Partial<ResponseHead> = {}): ResponseHead {
  return {
    status: 200,
    clockOffset: undefined,
    ageMs: 0,
    retryAfterMs: undefined,
    certificateNotAfterMs: undefined,
    header: () => undefined,
    ...overrides,
  };
}

/** A pending request. The test sends its response. */
export interface PendingRequest {
  readonly target: ListingTarget;
  readonly atMs: number;
  readonly signal: AbortSignal;
  /** Delivers the head and a part of the body. */
  write(text: string, head?: Partial<ResponseHead>): void;
  /** Delivers the head and the rest of the body, and ends the response. */
  respond(text: string, head?: Partial<ResponseHead>): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A client whose requests stay pending until the test completes them. */
export class ManualClient implements Pick<UpstreamClient, 'requestListing'> {
  readonly requests: PendingRequest[] = [];
  /** Whether an abort of the signal ends a request. */
  isAbortable = true;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  get latest(): PendingRequest {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('Expected a request, found none');
    return request;
  }

  get requestTimesMs(): readonly number[] {
    return this.requests.map(({ atMs }) => atMs);
  }

  requestListing(
    target: ListingTarget,
    onBody: BodyConsumer,
    signal: AbortSignal,
    observer?: RequestObserver,
  ): Promise<ResponseHead> {
    return new Promise((resolve, reject) => {
      const abort = (): void => reject(signal.reason);
      const settle = (end: () => void): void => {
        signal.removeEventListener('abort', abort);
        end();
      };
      if (this.isAbortable) signal.addEventListener('abort', abort);
      const write: PendingRequest['write'] = (text, head) => {
        observer?.onResponse(createHead(head));
        onBody(Buffer.from(text));
      };
      this.requests.push({
        target,
        atMs: this.#clock.now(),
        signal,
        write,
        respond: async (text, head) => {
          try {
            write(text, head);
            settle(() => resolve(createHead(head)));
          } catch (error) {
            settle(() => reject(error));
          }
          await nextTurn();
        },
        fail: async (error) => {
          settle(() => reject(error));
          await nextTurn();
        },
      });
    });
  }
}
