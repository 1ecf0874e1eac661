import { createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';

/** The one path that the service has ("task_list"). */
export const taskListPath = '/api/20140928/task_list';

/**
 * The values of `ret`. The interface has no table of them ("Errors"): all but 0 are the simulator's own choice.
 */
export const retCodes = {
  /** The call is in order. */
  ok: 0,
  /** The query does not name a service code, or its escapes are broken. */
  missing_service_code: 1001,
  /** The service code is not one that the simulator was started with. */
  unknown_service_code: 1002,
  /** `xvs-timestamp` is missing, or not decimal. */
  bad_timestamp: 1003,
  /** `xvs-timestamp` is further from the clock than the tolerance. */
  expired: 1004,
  /** `xvs-signature` is missing, or not the one of this call. */
  bad_signature: 1005,
} as const;

export type Ret = (typeof retCodes)[keyof typeof retCodes];

/** What a call is judged by. */
export interface Admission {
  /** Shared secrets by service code. */
  readonly secrets: ReadonlyMap<string, string>;
  readonly clock: Clock;
  /** How far a timestamp may be from the clock, either way; 0 accepts any. */
  readonly clockToleranceMs: number;
}

/** The value of `service_code` in a query string as it stood in the request, or `undefined` if there is none to be read. */
export function serviceCodeOf(rawQuery: string): string | undefined {
  const pair = rawQuery.split('&').find((part) => part.startsWith('service_code='));
  const value = pair === undefined ? undefined : unescapePercent(pair.slice('service_code='.length));
  return value === '' ? undefined : value;
}

/** Judges a call of `task_list` by its query string, as it stood in the request, and its headers; `skewMs` is how wrong the clock is. */
export function admit(admission: Admission, rawQuery: string, headers: IncomingHttpHeaders, skewMs = 0): Ret {
  const serviceCode = serviceCodeOf(rawQuery);
  const query = unescapePercent(rawQuery);
  if (serviceCode === undefined || query === undefined) return retCodes.missing_service_code;
  const secret = admission.secrets.get(serviceCode);
  if (secret === undefined) return retCodes.unknown_service_code;
  const timestamp = headerOf(headers, 'xvs-timestamp');
  if (!/^\d{1,15}$/.test(timestamp)) return retCodes.bad_timestamp;
  if (isExpired(admission, Number(timestamp) - skewMs)) return retCodes.expired;
  const signature = createHmac('sha256', secret).update(`${taskListPath}${query}${timestamp}`).digest();
  return isHexOf(headerOf(headers, 'xvs-signature'), signature) ? retCodes.ok : retCodes.bad_signature;
}

function isExpired({ clock, clockToleranceMs }: Admission, timestampMs: number): boolean {
  return clockToleranceMs > 0 && Math.abs(clock.now() - timestampMs) > clockToleranceMs;
}

function isHexOf(text: string, bytes: Buffer): boolean {
  return /^[0-9a-f]{64}$/.test(text) && timingSafeEqual(Buffer.from(text, 'hex'), bytes);
}

function headerOf(headers: IncomingHttpHeaders, name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

function unescapePercent(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
