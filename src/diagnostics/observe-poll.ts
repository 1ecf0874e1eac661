import type { Clock } from '../runtime/clock.ts';
import type { ReaderPool } from '../listing/reader-pool.ts';
import { fetchListing } from '../poller/fetch-listing.ts';
import type { ClockOffset } from '../upstream/clock-offset.ts';
import type { ListingTarget, UpstreamClient } from '../upstream/client.ts';
import type { ResponseHead, RequestObserver, RedactedRequest } from '../upstream/request-observer.ts';
import { ConnectionObserver } from './connection-observer.ts';
import { ListingSummarizer } from './listing-summary.ts';
import { TaskNameFinder } from './task-names.ts';
import {
  describeSecret,
  summarizeResponse,
  type Observation,
  type ObservedBody,
  type ObservedResponse,
} from './observation.ts';

interface ObserveDependencies {
  readonly client: UpstreamClient;
  readonly readers: ReaderPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Polls once and records the details of the exchange. Calls must not overlap, see {@link ConnectionObserver}.
 *
 * @throws the reason of the signal; a poll that fails is an observation.
 */
export async function observePoll(
  target: ListingTarget,
  { client, readers, clock, signal }: ObserveDependencies,
): Promise<Observation> {
  const recorder = new ExchangeRecorder(clock);
  const listing = new ListingSummarizer();
  const names = new TaskNameFinder();
  using connectionObserver = new ConnectionObserver(target.baseUrl, () => recorder.onConnected());
  const observedClient: Pick<UpstreamClient, 'requestListing'> = {
    requestListing: (requested, onBody, requestSignal) =>
      client.requestListing(
        requested,
        (chunk, status) => {
          recorder.onBodyChunk(chunk);
          names.addChunk(chunk);
          onBody(chunk, status);
        },
        requestSignal,
        recorder,
      ),
  };
  const { bytes, ret, error } = await fetchListing(observedClient, target, listing, readers, signal);
  return {
    serviceCode: target.serviceCode,
    baseUrl: target.baseUrl,
    secret: describeSecret(target.secret),
    signing: target.signing,
    connection: connectionObserver.connection,
    ...recorder.summarize(bytes ?? 0),
    listing: listing.summary,
    taskNames: error === undefined ? names.find() : undefined,
    ret,
    failure: error && { reason: error.reason, message: error.message, code: error.code },
  };
}

/** Records the request, the response and their times. */
class ExchangeRecorder implements RequestObserver {
  readonly #clock: Clock;
  readonly #startedMs: number;
  #request: RedactedRequest | undefined;
  #attempts = 0;
  #response: ObservedResponse | undefined;
  #clockOffset: ClockOffset | undefined;
  #connectedMs: number | undefined;
  #firstByteMs: number | undefined;
  #compressedBytes = 0;
  #bodyStart: ObservedBody['start'] = 'nothing';

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
  }

  onRequest(request: RedactedRequest): void {
    this.#request = request;
    this.#attempts += 1;
  }

  onConnected(): void {
    this.#connectedMs = this.#elapsedMs();
  }

  onResponse(head: ResponseHead): void {
    this.#firstByteMs = this.#elapsedMs();
    this.#response = summarizeResponse(head);
    this.#clockOffset = head.clockOffset;
  }

  onBodyBytes(bytes: number): void {
    this.#compressedBytes += bytes;
  }

  onBodyChunk(chunk: Uint8Array): void {
    if (this.#bodyStart === 'nothing') this.#bodyStart = detectBodyStart(chunk);
  }

  summarize(
    bytes: number,
  ): Pick<Observation, 'request' | 'attempts' | 'response' | 'clock' | 'body' | 'times'> {
    return {
      request: this.#request,
      attempts: this.#attempts,
      response: this.#response,
      clock: this.#clockOffset,
      body: { compressedBytes: this.#compressedBytes, bytes, start: this.#bodyStart },
      times: {
        connectedMs: this.#connectedMs,
        firstByteMs: this.#firstByteMs,
        totalMs: this.#elapsedMs(),
      },
    };
  }

  #elapsedMs(): number {
    return this.#clock.monotonic() - this.#startedMs;
  }
}

/** Judges the body by its first character that is not white space. */
function detectBodyStart(chunk: Uint8Array): ObservedBody['start'] {
  const first = chunk.find((byte) => byte > 0x20);
  if (first === undefined) return 'nothing';
  if (first === 0x7b) return 'object';
  return first === 0x3c ? 'markup' : 'other';
}
