import { sumColumn } from '../listing/rows.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ReaderPool } from '../listing/reader.ts';
import {
  fetchListing,
  type FailedListing,
  type GoodListing,
  type ListingObserver,
} from '../poller/fetch-listing.ts';
import type { ListingTarget, UpstreamClient } from '../upstream/client.ts';
import type { RedactedRequest, ResponseHead } from '../upstream/request-observer.ts';
import { observeConnection } from './connection-observer.ts';
import { fetchServerCertificate } from './server-certificate.ts';
import { TaskNameFinder } from './task-names.ts';
import { describeSecret, summarizeResponse } from './observation.ts';
import type { ListingSummary, Observation, ObservedBody } from './observation.ts';

interface ObserveDependencies {
  readonly client: UpstreamClient;
  readonly readers: ReaderPool;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/**
 * Polls once and records the details of the exchange. Calls must not overlap, see {@link observeConnection}.
 *
 * @throws the reason of the signal; a poll that fails is an observation.
 */
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
  let start: ObservedBody['start'] = 'nothing';
  const observer: ListingObserver = {
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
      if (start === 'nothing') start = detectBodyStart(chunk);
      names.addChunk(chunk);
    },
  };
  using observed = observeConnection(target.baseUrl, () => {
    connectedMs = elapsedMs();
  });
  const fetched = await fetchListing(client, target, readers, undefined, signal, observer);
  const { bytes = 0, ret, error } = fetched;
  const { connection } = observed;
  const totalMs = elapsedMs();
  const isUntrusted = error?.reason === 'tls' && connection.proxy === undefined;
  const rejectedCertificate = isUntrusted
    ? await fetchServerCertificate(target.baseUrl, target.timeoutMs, signal)
    : undefined;
  return {
    serviceCode: target.serviceCode,
    baseUrl: target.baseUrl,
    secret: describeSecret(target.secret),
    signing: target.signing,
    request,
    attempts,
    connection,
    rejectedCertificate,
    hasCaFile: client.hasCaFile,
    response: response && summarizeResponse(response),
    clock: response?.clockOffset,
    body: { compressedBytes, bytes, start },
    times: { connectedMs, firstByteMs, totalMs },
    listing: summarizeListing(fetched),
    taskNames: error === undefined ? names.find() : undefined,
    ret,
    failure: error,
  };
}

/** Judges the body by its first character that is not white space. */
function detectBodyStart(chunk: Uint8Array): ObservedBody['start'] {
  const first = chunk.find((byte) => byte > 0x20);
  if (first === undefined) return 'nothing';
  if (first === 0x7b) return 'object';
  return first === 0x3c ? 'markup' : 'other';
}

/** Counts the records of a listing, and lists the first invalid ones; of a failed one, those that were read. */
export function summarizeListing(fetched: GoodListing | FailedListing): ListingSummary {
  if (fetched.error !== undefined) return { ...NO_RECORDS, users: fetched.users, tasks: fetched.tasks };
  const { users, taskCount, rows, invalidRecords, invalidFields, firstRejected } = fetched.listing;
  return {
    users,
    tasks: taskCount,
    inputs: sumColumn(rows.inputs.columns.inputs),
    outputs: sumColumn(rows.outputs.columns.outputs),
    streams: sumColumn(rows.streams.columns.streams),
    invalid: invalidRecords.reduce((sum, { count }) => sum + count, 0),
    firstInvalid: firstRejected,
    invalidFields,
  };
}

const NO_RECORDS: ListingSummary = {
  users: 0,
  tasks: 0,
  inputs: 0,
  outputs: 0,
  streams: 0,
  invalid: 0,
  firstInvalid: [],
  invalidFields: [],
};
