import type { InvalidReason } from '../listing/records.ts';
import type { PollErrorReason } from '../upstream/errors.ts';
import type { ShownRequest } from '../upstream/exchange.ts';
import type { SigningScheme } from '../upstream/signing.ts';

/** What was to be seen of one poll. It holds no secret, no signature and no text of a listing. */
export interface Observation {
  readonly serviceCode: string;
  readonly baseUrl: string;
  readonly secret: SecretLooks;
  readonly signing: Pick<SigningScheme, 'algorithm' | 'encoding'>;
  /** As it was sent the last time; undefined where there was none. */
  readonly request: ShownRequest | undefined;
  /** How often it was sent. */
  readonly attempts: number;
  readonly connection: Connection;
  readonly answer: Answer | undefined;
  readonly clock: ClockDifference | undefined;
  readonly body: Body;
  readonly times: Times;
  readonly listing: Listing;
  readonly ret: number | undefined;
  readonly failure: Failure | undefined;
}

/** What can be said of a secret without saying it. */
export interface SecretLooks {
  readonly bytes: number;
  readonly hasOuterSpace: boolean;
  readonly isQuoted: boolean;
}

/** The way to the service, as far as it was gone. */
export interface Connection {
  /** Host and port that were connected to where they are not the service's own: a proxy. */
  readonly proxy?: string;
  /** Address, family and port of the other end. */
  readonly peer?: string;
  readonly tls?: {
    readonly version: string;
    /** Until when the certificate of the other end is valid; wall-clock milliseconds. */
    readonly validUntilMs: number | undefined;
  };
}

/** The head of the answer. */
export interface Answer {
  readonly status: number;
  /** `text/html`, without parameters. */
  readonly mediaType: string | undefined;
  readonly contentEncoding: string | undefined;
  /** Where a redirect leads: scheme, host and port alone. */
  readonly redirectOrigin: string | undefined;
  readonly retryAfter: boolean;
}

/** How far the clock of this machine is ahead of the service's; milliseconds, behind is negative. */
export interface ClockDifference {
  readonly aheadMs: number;
  readonly uncertaintyMs: number;
}

/** The answer's body, its sizes in bytes. */
export interface Body {
  readonly compressedBytes: number;
  readonly bytes: number;
  /** What its first character says that it is. */
  readonly start: 'nothing' | 'object' | 'markup' | 'other';
}

/** Milliseconds since the poll began; undefined where it did not come to that. */
export interface Times {
  readonly connectedMs: number | undefined;
  readonly firstByteMs: number | undefined;
  readonly wholeMs: number;
}

/** What was read. */
export interface Listing {
  readonly users: number;
  readonly tasks: number;
  readonly inputs: number;
  readonly outputs: number;
  readonly streams: number;
  /** Entries that were left out, the first of them with their places. */
  readonly invalid: number;
  readonly firstInvalid: readonly InvalidEntry[];
}

/** An entry that was left out: where it stands (`user_list[3]`, `an output of task_list[0]`), and why. */
export interface InvalidEntry {
  readonly place: string;
  readonly reason: InvalidReason;
}

/** Why a poll failed. */
interface Failure {
  readonly reason: PollErrorReason;
  readonly message: string;
  /** What the system or TLS calls it. */
  readonly code: string | undefined;
}
