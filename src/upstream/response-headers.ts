/** How far this machine's clock is ahead of that of the service, in milliseconds; negative if behind. */
export interface ClockOffset {
  readonly aheadMs: number;
  readonly uncertaintyMs: number;
}

export interface ResponseTimes {
  readonly clockOffset: ClockOffset | undefined;
  /** `Age`: how long ago the service has sent the response to a cache; 0 without a cache. */
  readonly ageMs: number;
  /** `Retry-After`, a delay of any length; undefined if it is missing, invalid or in the past. */
  readonly retryAfterMs: number | undefined;
}

/** Caches send no larger `Age` (RFC 9111, section 1.2.2). */
const MAX_AGE_MS = 2 ** 31 * 1000;
/** `Date` and `Age` have whole seconds. */
const RESOLUTION_MS = 1000;

/** `requestMs` and `responseMs` are wall-clock milliseconds; the server wrote the response between them. */
export function readResponseTimes(
  header: (name: string) => string | undefined,
  requestMs: number,
  responseMs: number,
): ResponseTimes {
  const dateMs = parseHttpDate(header('date'));
  const sentAge = parseSeconds(header('age'));
  const age = sentAge !== undefined && sentAge > MAX_AGE_MS ? undefined : sentAge;
  const ageMs = age ?? 0;
  const serverMs = dateMs === undefined ? undefined : dateMs + ageMs;
  const retryAfter = header('retry-after');
  const retryAtMs = parseHttpDate(retryAfter) ?? Number.NaN;
  // The service takes the date from its own clock, which may differ from the clock of this machine.
  const delayMs = parseSeconds(retryAfter) ?? retryAtMs - (serverMs ?? responseMs);
  const roundingMs = age === undefined ? RESOLUTION_MS : 2 * RESOLUTION_MS;
  return {
    clockOffset:
      serverMs === undefined
        ? undefined
        : {
            aheadMs: (requestMs + responseMs) / 2 - (serverMs + roundingMs / 2),
            uncertaintyMs: (responseMs - requestMs + roundingMs) / 2,
          },
    ageMs,
    retryAfterMs: delayMs >= 0 ? delayMs : undefined,
  };
}

/** Returns the estimated offset, negative if this machine is behind; 0 if the uncertainty explains it. */
export function certainOffsetMs({ aheadMs, uncertaintyMs }: ClockOffset): number {
  return Math.abs(aheadMs) > uncertaintyMs ? aheadMs : 0;
}

/** The least difference of the clocks that is certain; 0 if the offset is unknown. */
export function minClockOffsetMs(offset: ClockOffset | undefined): number {
  return offset === undefined ? 0 : Math.max(0, Math.abs(offset.aheadMs) - offset.uncertaintyMs);
}

function parseSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : undefined;
}

/** Allows the three forms of RFC 9110, section 5.6.7: `Date.parse` also reads others, such as `5, 10`. */
const HTTP_DATE = /^[A-Z][a-z]+,? [\w -]+ \d\d:\d\d:\d\d (?:GMT|\d{4})$/;

/** Reads a date in GMT, as all three forms are; returns undefined for anything else. */
function parseHttpDate(text = ''): number | undefined {
  const trimmed = text.trim();
  if (!HTTP_DATE.test(trimmed)) return undefined;
  const ms = Date.parse(trimmed.endsWith('GMT') ? trimmed : `${trimmed} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}
