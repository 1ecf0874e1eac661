import { createHmac } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../../src/runtime/clock.ts';

/** The path of the interface. */
export const TASK_LIST_PATH = '/api/20140928/task_list';

/** The values of `ret`. The interface defines only 0 ("Errors"); the simulator chose the others. */
export const RET_CODES = {
  /** Success. */
  ok: 0,
  /** `service_code` is missing, empty, or has invalid escapes. */
  missing_service_code: 1001,
  /** The simulator was started without this service code. */
  unknown_service_code: 1002,
  /** `xvs-timestamp` is missing, or not decimal. */
  bad_timestamp: 1003,
  /** `xvs-timestamp` is further from the clock than the tolerance. */
  expired: 1004,
  /** `xvs-signature` is missing, or does not match the request. */
  bad_signature: 1005,
} as const;

export type Ret = (typeof RET_CODES)[keyof typeof RET_CODES];

export interface AuthenticationOptions {
  readonly secretsByServiceCode: ReadonlyMap<string, string>;
  readonly clock: Clock;
  readonly clockToleranceMs: number;
}

/**
 * Parses `service_code` from the raw query of a request; `undefined` if it is missing, empty or not
 * decodable.
 */
export function parseServiceCode(rawQuery: string): string | undefined {
  const pair = rawQuery.split('&').find((part) => part.startsWith('service_code='));
  const value = pair === undefined ? undefined : decodePercent(pair.slice('service_code='.length));
  return value === '' ? undefined : value;
}

/**
 * Authenticates a request by its raw query and its headers. `skewMs` is the error of the service's clock.
 * Path and signature are not those of `src/upstream`, which the simulator checks.
 */
export function authenticate(
  { secretsByServiceCode, clock, clockToleranceMs }: AuthenticationOptions,
  rawQuery: string,
  headers: IncomingHttpHeaders,
  skewMs: number,
): Ret {
  const serviceCode = parseServiceCode(rawQuery);
  const query = decodePercent(rawQuery);
  if (serviceCode === undefined || query === undefined) return RET_CODES.missing_service_code;
  const secret = secretsByServiceCode.get(serviceCode);
  if (secret === undefined) return RET_CODES.unknown_service_code;
  const timestamp = String(headers['xvs-timestamp']);
  if (!/^\d{1,15}$/.test(timestamp)) return RET_CODES.bad_timestamp;
  const deviationMs = Math.abs(clock.now() + skewMs - Number(timestamp));
  if (clockToleranceMs > 0 && deviationMs > clockToleranceMs) return RET_CODES.expired;
  const signature = createHmac('sha256', secret)
    .update(`${TASK_LIST_PATH}${query}${timestamp}`)
    .digest('hex');
  return headers['xvs-signature'] === signature ? RET_CODES.ok : RET_CODES.bad_signature;
}

function decodePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
