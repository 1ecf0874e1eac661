import type { Observation } from '../../src/explain/observation.ts';

/** A poll that went well, with whatever is said to be otherwise. */
export function observation(more: Partial<Observation> = {}): Observation {
  return {
    serviceCode: 'TESTING',
    baseUrl: 'https://live.example.com',
    secret: { bytes: 32, hasOuterSpace: false, isQuoted: false },
    signing: { algorithm: 'sha256', encoding: 'hex' },
    request: {
      line: 'GET /api/20140928/task_list?service_code=TESTING HTTP/1.1',
      headers: { host: 'live.example.com', 'xvs-signature': '<signature of 64 characters>' },
      stringToSign: '/api/20140928/task_listservice_code=TESTING1443494296533',
    },
    attempts: 1,
    connection: { peer: '192.0.2.7:443 (IPv4)', tls: { version: 'TLSv1.3', validUntilMs: undefined } },
    answer: {
      status: 200,
      mediaType: 'application/json',
      contentEncoding: 'gzip',
      redirectOrigin: undefined,
      retryAfter: false,
    },
    clock: { aheadMs: 100, uncertaintyMs: 550 },
    body: { compressedBytes: 100, bytes: 1000, start: 'object' },
    times: { connectedMs: 12, firstByteMs: 34, wholeMs: 56 },
    listing: { users: 10, tasks: 3, inputs: 4, outputs: 5, streams: 6, invalid: 0, firstInvalid: [] },
    ret: 0,
    failure: undefined,
    ...more,
  };
}

/** What is different where no answer came. */
export const UNANSWERED: Partial<Observation> = {
  answer: undefined,
  clock: undefined,
  ret: undefined,
  body: { compressedBytes: 0, bytes: 0, start: 'nothing' },
};

/** A failure, and an answer with a status where it has one. */
export function failed(
  reason: NonNullable<Observation['failure']>['reason'],
  code?: string,
): Pick<Observation, 'failure'> {
  return { failure: { reason, message: 'It failed', code } };
}

/** The head of an answer that is no good one. */
export function answer(more: Partial<NonNullable<Observation['answer']>>): Pick<Observation, 'answer'> {
  return {
    answer: {
      status: 200,
      mediaType: 'text/plain',
      contentEncoding: undefined,
      redirectOrigin: undefined,
      retryAfter: false,
      ...more,
    },
  };
}
