import type { InvalidFieldCount, RejectedEntry } from '../listing/listing.ts';
import type { ClockOffset } from '../upstream/response-headers.ts';
import type { UpstreamError } from '../upstream/errors.ts';
import type { RedactedRequest, ResponseHead } from '../upstream/request-observer.ts';
import type { SigningScheme } from '../upstream/signing.ts';
import type { ServerCertificate } from './server-certificate.ts';
import type { NamesOfSource } from './task-names.ts';

/** The observable details of one poll, without secrets and signatures; of the texts of the listing only names of tasks. */
export interface Observation {
  readonly serviceCode: string;
  readonly baseUrl: string;
  readonly secret: SecretTraits;
  readonly signing: Pick<SigningScheme, 'algorithm' | 'encoding'>;
  /** The last request that was sent. */
  readonly request: RedactedRequest | undefined;
  /** How many times the request was sent. */
  readonly attempts: number;
  readonly connection: ObservedConnection;
  /** The certificate that was rejected, unless a proxy was used. */
  readonly rejectedCertificate: ServerCertificate | undefined;
  /** Whether `upstream.ca_file` is set. */
  readonly hasCaFile: boolean;
  readonly response: ObservedResponse | undefined;
  readonly clock: ClockOffset | undefined;
  readonly body: ObservedBody;
  readonly times: Timings;
  readonly listing: ListingSummary;
  /** Undefined after a poll that failed, or if the names could not be found. */
  readonly taskNames: readonly NamesOfSource[] | undefined;
  readonly ret: number | undefined;
  /** Undefined after a successful poll. */
  readonly failure:
    | (Pick<UpstreamError, 'reason' | 'message' | 'code'> &
        Partial<Pick<UpstreamError, 'addresses' | 'isCutOff'>>)
    | undefined;
}

/** What a remedy is found by. A poll of the poll loop, unlike one of `once --explain`, has only the fields that are required. */
export interface Symptoms
  extends
    Pick<Observation, 'serviceCode' | 'baseUrl' | 'secret' | 'response' | 'clock' | 'ret' | 'failure'>,
    Partial<Pick<Observation, 'connection' | 'rejectedCertificate' | 'hasCaFile' | 'body' | 'times'>> {
  readonly listing?: Pick<ListingSummary, 'invalid'>;
}

/** Properties of a secret that do not reveal it. */
export interface SecretTraits {
  readonly bytes: number;
  readonly isQuoted: boolean;
}

/** The connection that the request was sent on, as far as it was made. */
export interface ObservedConnection {
  /** Host and port of a proxy. */
  readonly proxy?: string;
  /** Address, family and port of the server or proxy. */
  readonly peer?: string;
  readonly tls?: {
    readonly version: string;
    /** Expiry of the server certificate, in wall-clock milliseconds. */
    readonly validUntilMs: number | undefined;
  };
}

/** Status and headers of the response. */
export interface ObservedResponse {
  readonly status: number;
  /** Without parameters: `text/html`. */
  readonly mediaType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** Scheme, host and port of the target of a redirect. */
  readonly redirectOrigin: string | undefined;
  /** How old a cache says that the response is; 0 without a cache. */
  readonly ageMs: number;
  readonly hasRetryAfter: boolean;
}

/** The body of the response. */
export interface ObservedBody {
  readonly compressedBytes: number;
  readonly bytes: number;
  /** The kind of content, judged by the first character. */
  readonly start: 'nothing' | 'object' | 'markup' | 'other';
}

/** Milliseconds since the start of the poll; undefined for stages that it did not reach. */
export interface Timings {
  readonly connectedMs: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly totalMs: number;
}

/** Counts of the valid and the invalid records of a listing. */
export interface ListingSummary {
  readonly users: number;
  readonly tasks: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly streams: number;
  readonly invalid: number;
  readonly firstInvalid: readonly RejectedEntry[];
  readonly invalidFields: readonly InvalidFieldCount[];
}

export function describeSecret(secret: string): SecretTraits {
  return {
    bytes: Buffer.byteLength(secret),
    isQuoted: /^(["']).*\1$/s.test(secret),
  };
}

/** Reduces headers to forms that cannot contain arbitrary text of the server. */
export function summarizeResponse({ status, ageMs, header }: ResponseHead): ObservedResponse {
  const location = header('location') ?? '';
  return {
    status,
    mediaType: /^[\w.+-]+\/[\w.+-]+/.exec(header('content-type') ?? '')?.[0],
    contentEncoding: /^[\w, -]+$/.exec(header('content-encoding') ?? '')?.[0],
    redirectOrigin:
      /^https?:/i.test(location) && URL.canParse(location) ? new URL(location).origin : undefined,
    ageMs,
    hasRetryAfter: header('retry-after') !== undefined,
  };
}
