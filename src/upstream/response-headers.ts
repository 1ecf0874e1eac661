/** How far the clock of this machine is ahead of the clock of the service, in milliseconds; negative if behind. */
export interface ClockOffset {
  readonly aheadMs: number;
  readonly uncertaintyMs: number;
}

/** A `Date` header has whole seconds: the response was written within the second that it names. */
const DATE_RESOLUTION_MS = 1000;

/**
 * Estimates the clock offset between this machine and a server from the `Date` header of a response, which the server
 * wrote between request and response. Times are wall-clock milliseconds of this machine.
 */
export function estimateClockOffset(
  date: string | undefined,
  requestMs: number,
  responseMs: number,
): ClockOffset | undefined {
  const serverMs = Date.parse(date ?? '');
  if (Number.isNaN(serverMs)) return undefined;
  return {
    aheadMs: (requestMs + responseMs) / 2 - (serverMs + DATE_RESOLUTION_MS / 2),
    uncertaintyMs: (responseMs - requestMs + DATE_RESOLUTION_MS) / 2,
  };
}

/** The offset as estimated, negative if behind; 0 if its uncertainty explains it. */
export function certainOffsetMs({ aheadMs, uncertaintyMs }: ClockOffset): number {
  return Math.abs(aheadMs) > uncertaintyMs ? aheadMs : 0;
}

/** The least difference of the clocks that is certain; 0 if the offset is unknown. */
export function minClockOffsetMs(offset: ClockOffset | undefined): number {
  return offset === undefined ? 0 : Math.max(0, Math.abs(offset.aheadMs) - offset.uncertaintyMs);
}

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
