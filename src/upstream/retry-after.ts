/** A service that asks for more than a day has most likely mistaken a unit or a clock. */
const MAX_RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

const DELAY_SECONDS = /^\d+$/;
/** `Date.parse` takes nearly anything, `-5` and `1.5` too: the three HTTP dates all start with the day. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds, or an HTTP date.
 *
 * @param nowMs - wall-clock time in milliseconds since the Unix epoch, for a date
 * @returns milliseconds to wait; undefined where there is no value, or an invalid, past or absurd one
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const delayMs = delayOf(value?.trim() ?? '', nowMs);
  return delayMs >= 0 && delayMs <= MAX_RETRY_AFTER_MS ? delayMs : undefined;
}

function delayOf(value: string, nowMs: number): number {
  if (DELAY_SECONDS.test(value)) {
    return Number(value) * 1000;
  }
  // The asctime form names no zone, and means GMT.
  return HTTP_DATE.test(value)
    ? Date.parse(value.endsWith('GMT') ? value : `${value} GMT`) - nowMs
    : Number.NaN;
}
