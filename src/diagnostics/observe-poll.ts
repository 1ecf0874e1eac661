import type { Clock } from '../clock.ts';
import { RecordReaders } from '../listing/record-readers.ts';
import { fetchListing } from '../poller/fetch-listing.ts';
import type { ListingTarget, UpstreamClient } from '../upstream/client.ts';
import type { AnswerHead, ExchangeObserver, ShownRequest } from '../upstream/exchange.ts';
import { clockDifference } from './clock-difference.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { ListingNotes } from './listing-notes.ts';
import type { Answer, Body, ClockDifference, Observation, SecretLooks } from './observation.ts';

interface Means {
  readonly client: UpstreamClient;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Polls once and notes all that is to be seen on the way. One at a time: the connections of all requests of a
 * process look alike. Rejects only with the signal's reason, or for a mistake of the program.
 */
export async function observe(target: ListingTarget, means: Means): Promise<Observation> {
  const { client, clock, signal } = means;
  const notes = new ExchangeNotes(clock);
  const listing = new ListingNotes();
  using watch = new ConnectionWatch(target.baseUrl, () => notes.connected());
  const noting: Pick<UpstreamClient, 'requestListing'> = {
    requestListing: (asked, onBody, ending) =>
      client.requestListing(
        asked,
        (chunk, status) => {
          notes.read(chunk);
          onBody(chunk, status);
        },
        ending,
        notes,
      ),
  };
  const { bytes, ret, error } = await fetchListing(noting, target, listing, new RecordReaders(), signal);
  return {
    serviceCode: target.serviceCode,
    baseUrl: target.baseUrl,
    secret: looksOf(target.secret),
    signing: target.signing,
    connection: watch.connection,
    ...notes.noted(bytes ?? 0),
    listing: listing.listing,
    ret,
    failure: error && { reason: error.reason, message: error.message, code: error.code },
  };
}

function looksOf(secret: string): SecretLooks {
  return {
    bytes: Buffer.byteLength(secret),
    hasOuterSpace: secret.trim() !== secret,
    isQuoted: /^(["']).*\1$/s.test(secret),
  };
}

/** What goes to and fro, with the times. */
class ExchangeNotes implements ExchangeObserver {
  readonly #clock: Clock;
  readonly #startedMs: number;
  #request: ShownRequest | undefined;
  #attempts = 0;
  #askedWallMs = 0;
  #answer: Answer | undefined;
  #clockDifference: ClockDifference | undefined;
  #connectedMs: number | undefined;
  #firstByteMs: number | undefined;
  #compressedBytes = 0;
  #start: Body['start'] = 'nothing';

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#startedMs = clock.monotonic();
  }

  asked(request: ShownRequest): void {
    this.#request = request;
    this.#attempts += 1;
    this.#askedWallMs = this.#clock.now();
  }

  connected(): void {
    this.#connectedMs = this.#sinceStart();
  }

  answered(head: AnswerHead): void {
    this.#firstByteMs = this.#sinceStart();
    this.#answer = answerOf(head);
    this.#clockDifference = clockDifference(head.header('date'), this.#askedWallMs, this.#clock.now());
  }

  received(bytes: number): void {
    this.#compressedBytes += bytes;
  }

  read(chunk: Uint8Array): void {
    if (this.#start === 'nothing') this.#start = startOf(chunk);
  }

  noted(bytes: number): Pick<Observation, 'request' | 'attempts' | 'answer' | 'clock' | 'body' | 'times'> {
    return {
      request: this.#request,
      attempts: this.#attempts,
      answer: this.#answer,
      clock: this.#clockDifference,
      body: { compressedBytes: this.#compressedBytes, bytes, start: this.#start },
      times: {
        connectedMs: this.#connectedMs,
        firstByteMs: this.#firstByteMs,
        wholeMs: this.#sinceStart(),
      },
    };
  }

  #sinceStart(): number {
    return this.#clock.monotonic() - this.#startedMs;
  }
}

/** Of the headers what is of use and cannot hold anything else. */
function answerOf({ status, header }: AnswerHead): Answer {
  const location = header('location') ?? '';
  return {
    status,
    mediaType: /^[\w.+-]+\/[\w.+-]+/.exec(header('content-type') ?? '')?.[0],
    contentEncoding: /^[\w, -]+$/.exec(header('content-encoding') ?? '')?.[0],
    redirectOrigin:
      /^https?:/i.test(location) && URL.canParse(location) ? new URL(location).origin : undefined,
    retryAfter: header('retry-after') !== undefined,
  };
}

/** By the first character that is no white space. */
function startOf(chunk: Uint8Array): Body['start'] {
  const first = chunk.find((byte) => byte > 0x20);
  if (first === undefined) return 'nothing';
  if (first === 0x7b) return 'object';
  return first === 0x3c ? 'markup' : 'other';
}
