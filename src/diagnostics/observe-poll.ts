import type { ReaderPool } from '../listing/reader.ts';
import { fetchListing, type FailedListing, type GoodListing } from '../poller/fetch-listing.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ListingTarget, UpstreamClient } from '../upstream/client.ts';
import type { RedactedRequest, ResponseHead } from '../upstream/request-observer.ts';
import { observeConnection, type ObservedConnection } from './connection-observer.ts';
import { TaskNameFinder, type NamesOfSource } from './task-names.ts';

export interface Observation {
  readonly target: ListingTarget;
  readonly fetched: GoodListing | FailedListing;
  readonly response: ResponseHead | undefined;
  /** The last request that was sent. */
  readonly request: RedactedRequest | undefined;
  readonly attempts: number;
  readonly connection: ObservedConnection;
  readonly compressedBytes: number;
  /** The first character of the body that is no white space; empty without one. */
  readonly bodyStart: string;
  /** Milliseconds since the start of the poll; `undefined` for stages that it did not reach. */
  readonly times: {
    readonly connectedMs: number | undefined;
    readonly firstByteMs: number | undefined;
    readonly totalMs: number;
  };
  /** Undefined after a poll that failed, or if the names could not be found. */
  readonly taskNames: readonly NamesOfSource[] | undefined;
}

interface ObserveDependencies {
  readonly client: UpstreamClient;
  readonly readers: ReaderPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Polls once and records the exchange. Calls must not overlap, see {@link observeConnection}. */
export async function observePoll(
  target: ListingTarget,
  { client, readers, clock, signal }: ObserveDependencies,
): Promise<Observation> {
  const names = new TaskNameFinder();
  const startedMs = clock.monotonic();
  const elapsedMs = (): number => clock.monotonic() - startedMs;
  // Of several attempts the last one counts.
  let request: RedactedRequest | undefined;
  let response: ResponseHead | undefined;
  let connectedMs: number | undefined;
  let firstByteMs: number | undefined;
  let attempts = 0;
  let compressedBytes = 0;
  let bodyStart = '';
  using observed = observeConnection(target.baseUrl, () => {
    connectedMs = elapsedMs();
  });
  const fetched = await fetchListing(client, target, readers, undefined, signal, {
    onRequest: (sent) => {
      request = sent;
      attempts += 1;
    },
    onResponse: (head) => {
      firstByteMs = elapsedMs();
      response = head;
    },
    onBodyBytes: (bytes) => {
      compressedBytes += bytes;
    },
    onChunk: (chunk) => {
      if (bodyStart === '') bodyStart = /\S/.exec(Buffer.from(chunk).toString('latin1'))?.[0] ?? '';
      names.addChunk(chunk);
    },
  });
  return {
    target,
    fetched,
    response,
    request,
    attempts,
    connection: observed.connection,
    compressedBytes,
    bodyStart,
    times: { connectedMs, firstByteMs, totalMs: elapsedMs() },
    taskNames: fetched.error === undefined ? names.find() : undefined,
  };
}
