import type { Observation } from '../../../src/diagnostics/observe-poll.ts';
import type { FailedListing, GoodListing } from '../../../src/poller/fetch-listing.ts';
import {
  UpstreamError,
  type PollErrorReason,
  type UpstreamErrorDetails,
} from '../../../src/upstream/errors.ts';
import type { ResponseHead } from '../../../src/upstream/request-observer.ts';
import { createHead } from '../../support/manual-client.ts';
import { PUBLISHED_SCHEME } from '../../support/published-scheme.ts';
import { readInChunks } from '../../support/read-listing.ts';

const LISTING = {
  ret: 0,
  user_list: [{}, {}],
  task_list: [
    { id: 'a', outputs: [{ streams: [{}, {}] }, { streams: [{}] }] },
    { id: 'b', inputs: [{}] },
  ],
};

/** A poll that read a listing. */
export function createGoodListing(listing: object = LISTING, response = createResponse()): GoodListing {
  return {
    listing: readInChunks(Buffer.from(JSON.stringify(listing)), []),
    ret: 0,
    bytes: 1000,
    response,
  };
}

/** A successful poll, apart from the given overrides. */
export function createObservation(overrides: Partial<Observation> = {}): Observation {
  return {
    target: {
      serviceCode: 'TESTING',
      baseUrl: 'https://live.example.com',
      secret: 'x'.repeat(32),
      signing: PUBLISHED_SCHEME,
      timeoutMs: 10_000,
    },
    fetched: createGoodListing(),
    request: {
      line: 'GET /api/20140928/task_list?service_code=TESTING HTTP/1.1',
      headers: { host: 'live.example.com', 'xvs-signature': '<signature of 64 characters>' },
      stringToSign: '/api/20140928/task_listservice_code=TESTING1443494296533',
    },
    isRequestSent: true,
    connection: { peer: '192.0.2.7:443 (IPv4), TLSv1.3' },
    compressedBytes: 100,
    times: { connectedMs: 12, firstByteMs: 34, totalMs: 56 },
    taskNames: [
      { source: 'opaque.room', names: ['main', undefined, 'backup'] },
      { source: 'input.user_name', names: [undefined, undefined, undefined] },
    ],
    ...overrides,
  };
}

/** A poll that failed, by default with a response. */
export function createFailure(
  reason: PollErrorReason,
  details: UpstreamErrorDetails = {},
  progress: Partial<FailedListing> = {},
): FailedListing {
  const error = new UpstreamError(reason, 'It failed', details);
  const read = { users: 0, tasks: 0, ret: undefined, bytes: 1000 };
  return { error, ...read, response: createResponse(), ...progress };
}

/** A response, of a service whose clock agrees, with these headers besides. */
export function createResponse(
  overrides: Partial<ResponseHead> = {},
  headers: Readonly<Record<string, string>> = {
    'content-type': 'application/json',
    'content-encoding': 'gzip',
  },
): ResponseHead {
  return createHead({
    clockOffset: { aheadMs: 100, uncertaintyMs: 550 },
    header: (name) => headers[name],
    ...overrides,
  });
}
