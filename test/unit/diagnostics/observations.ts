import type { Observation } from '../../../src/diagnostics/observation.ts';

/** A successful poll, apart from the given overrides. */
export function createObservation(overrides: Partial<Observation> = {}): Observation {
  return {
    serviceCode: 'TESTING',
    baseUrl: 'https://live.example.com',
    secret: { bytes: 32, isQuoted: false },
    signing: { algorithm: 'sha256', encoding: 'hex' },
    request: {
      line: 'GET /api/20140928/task_list?service_code=TESTING HTTP/1.1',
      headers: { host: 'live.example.com', 'xvs-signature': '<signature of 64 characters>' },
      stringToSign: '/api/20140928/task_listservice_code=TESTING1443494296533',
    },
    attempts: 1,
    connection: { peer: '192.0.2.7:443 (IPv4)', tls: { version: 'TLSv1.3', validUntilMs: undefined } },
    rejectedCertificate: undefined,
    hasCaFile: false,
    response: {
      status: 200,
      mediaType: 'application/json',
      contentEncoding: 'gzip',
      redirectOrigin: undefined,
      ageMs: 0,
      hasRetryAfter: false,
    },
    clock: { aheadMs: 100, uncertaintyMs: 550 },
    body: { compressedBytes: 100, bytes: 1000, start: 'object' },
    times: { connectedMs: 12, firstByteMs: 34, totalMs: 56 },
    listing: {
      users: 10,
      tasks: 3,
      inputs: 4,
      outputs: 5,
      streams: 6,
      invalid: 0,
      firstInvalid: [],
      invalidFields: [],
    },
    taskNames: [
      { source: 'opaque.room', names: ['main', undefined, 'backup'] },
      { source: 'input.user_name', names: [undefined, undefined, undefined] },
    ],
    ret: 0,
    failure: undefined,
    ...overrides,
  };
}

/** The fields of a poll without a response. */
export const NO_RESPONSE: Partial<Observation> = {
  response: undefined,
  clock: undefined,
  ret: undefined,
  body: { compressedBytes: 0, bytes: 0, start: 'nothing' },
};

/** The fields of a poll that failed. */
export function createFailure(
  reason: NonNullable<Observation['failure']>['reason'],
  code?: string,
): Pick<Observation, 'failure'> {
  return { failure: { reason, message: 'It failed', code } };
}

/** The fields of a poll with another response. */
export function createResponse(
  overrides: Partial<NonNullable<Observation['response']>>,
): Pick<Observation, 'response'> {
  return {
    response: {
      status: 200,
      mediaType: 'text/plain',
      contentEncoding: undefined,
      redirectOrigin: undefined,
      ageMs: 0,
      hasRetryAfter: false,
      ...overrides,
    },
  };
}
