import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Logger } from '../../src/log.ts';
import { createLogger } from '../../src/log.ts';
import type { PollMetrics } from '../../src/metrics/code-metrics.ts';
import type {
  BodyConsumer,
  ListingResponse,
  ListingTarget,
  UpstreamClient,
} from '../../src/upstream/client.ts';
import type { ManualClock } from '../support/manual-clock.ts';
import { PUBLISHED_SCHEME } from '../support/published-scheme.ts';

/** What polls are asked for here; the deadline is the fake client's to keep, or not. */
export const TARGET: ListingTarget = {
  serviceCode: 'TESTING',
  baseUrl: 'http://127.0.0.1',
  secret: 'abc',
  signing: PUBLISHED_SCHEME,
  timeoutMs: 10_000,
};

/** The body of a listing with one user and one task that has received so many bytes. */
export function listingBody(inputBytes: number, ret: number = 0): string {
  return JSON.stringify({
    ret,
    user_list: [{ vs_id: 'server-1', client_version: '451', device_type: '10' }],
    task_list: [{ id: 'task-1', vs_id: 'server-1', input_bytes: inputBytes, inputs: [], outputs: [] }],
  });
}

/** Advances a clock, and lets everything that thereby came due run until it waits again. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  clock.advance(ms);
  await nextTurn();
}

/** A request that waits for the test to answer it. */
export interface HeldRequest {
  readonly target: ListingTarget;
  readonly atMs: number;
  readonly signal: AbortSignal;
  /** Hands a part of the body on. */
  write(text: string, status?: number): void;
  /** Hands the rest of the body on and ends the answer. */
  answer(text: string, more?: Partial<ListingResponse>): Promise<void>;
  fail(error: unknown): Promise<void>;
}

/** A client whose requests the test answers; by default they heed their signal. */
export class HeldClient implements Pick<UpstreamClient, 'requestListing'> {
  readonly requests: HeldRequest[] = [];
  heedsSignal = true;
  readonly #clock: ManualClock;

  constructor(clock: ManualClock) {
    this.#clock = clock;
  }

  get latest(): HeldRequest {
    const request = this.requests.at(-1);
    if (request === undefined) throw new Error('Expected a request, found none');
    return request;
  }

  /** When each request was made. */
  get times(): readonly number[] {
    return this.requests.map(({ atMs }) => atMs);
  }

  requestListing(target: ListingTarget, onBody: BodyConsumer, signal: AbortSignal): Promise<ListingResponse> {
    return new Promise((resolve, reject) => {
      if (this.heedsSignal) signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      const write = (text: string, status = 200): void => onBody(Buffer.from(text), status);
      this.requests.push({
        target,
        atMs: this.#clock.now(),
        signal,
        write,
        answer: async (text, more = {}) => {
          try {
            write(text, more.status);
            resolve({ status: 200, bytes: text.length, ...more });
          } catch (error) {
            reject(error);
          }
          await nextTurn();
        },
        fail: async (error) => {
          reject(error);
          await nextTurn();
        },
      });
    });
  }
}

/** Keeps what is counted, in order. */
export class RecordedMetrics implements PollMetrics {
  readonly calls: string[] = [];

  started(): void {
    this.calls.push('started');
  }

  succeeded(durationSeconds: number): void {
    this.calls.push(`succeeded after ${durationSeconds} s`);
  }

  failed(reason: string, durationSeconds: number): void {
    this.calls.push(`failed by ${reason} after ${durationSeconds} s`);
  }

  skipped(reason: string): void {
    this.calls.push(`skipped by ${reason}`);
  }

  responseBytes(bytes: number): void {
    this.calls.push(`${bytes} bytes`);
  }

  invalidRecord(record: string, reason: string, count: number): void {
    this.calls.push(`invalid ${record} ${reason}: ${count}`);
  }

  count(call: string): number {
    return this.calls.filter((one) => one === call).length;
  }
}

export interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly msg: string;
}

/** A logger at `debug` and the lines that it has written. */
export function recordedLog(): { readonly logger: Logger; readonly lines: readonly LogLine[] } {
  const lines: LogLine[] = [];
  const write = (text: string): void => {
    const { time: _time, ...line }: LogLine = JSON.parse(text);
    lines.push(line);
  };
  return { lines, logger: createLogger({ level: 'debug', format: 'json', destination: { write } }) };
}
