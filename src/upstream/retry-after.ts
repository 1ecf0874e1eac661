const DELAY_SECONDS = /^\d+$/;
/** All three HTTP date formats start with the day; `Date.parse` alone also accepts `-5` and `1.5`. */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/;

/**
 * Parses `Retry-After` (RFC 9110, section 10.2.3): seconds or an HTTP date.
 *
 * @param nowMs - wall-clock time in milliseconds since the Unix epoch
 * @returns the delay in milliseconds, of any length; `undefined` if the value is missing, invalid or in the past
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const delayMs = parseDelayMs(value?.trim() ?? '', nowMs);
  return delayMs >= 0 ? delayMs : undefined;
}

function parseDelayMs(value: string, nowMs: number): number {
  if (DELAY_SECONDS.test(value)) return Number(value) * 1000;
  // The asctime format has no time zone and is in GMT.
  return HTTP_DATE.test(value)
    ? Date.parse(value.endsWith('GMT') ? value : `${value} GMT`) - nowMs
    : Number.NaN;
}
