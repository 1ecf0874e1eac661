import { apartAtLeastMs } from './clock-difference.ts';
import type { Hint } from './hint.ts';
import type { Observation } from './observation.ts';

/** The interface does not tell what the service tolerates: within this, the clock is not the first suspect. */
const CLOCK_TOLERANCE_MS = 30_000;

/** The service understood the request, and refused it. */
function isRefused({ failure, answer }: Observation): boolean {
  return failure?.reason === 'api_error' || answer?.status === 401 || answer?.status === 403;
}

function isClockSuspect({ clock }: Observation): boolean {
  return clock !== undefined && apartAtLeastMs(clock) > CLOCK_TOLERANCE_MS;
}

const wrongClock: Hint = (seen) =>
  isClockSuspect(seen)
    ? `The clock of this machine and that of the service are at least ${Math.round(apartAtLeastMs(seen.clock ?? { aheadMs: 0, uncertaintyMs: 0 }) / 1000)} s apart: signatures hold for a short time only. Synchronise the clock (NTP).`
    : undefined;

const oddSecret: Hint = (seen) => {
  if (!isRefused(seen)) return undefined;
  if (seen.secret.hasOuterSpace)
    return 'The secret begins or ends with white space or a line feed: is that a part of it? (Of a file, one line feed at its end is dropped.)';
  return seen.secret.isQuoted
    ? 'The secret stands in quotes, and they are signed with as a part of it: files with variables (docker --env-file) keep quotes.'
    : undefined;
};

const oddCode: Hint = (seen) => {
  if (!isRefused(seen)) return undefined;
  const { serviceCode } = seen;
  if (/^(["']).*\1$/.test(serviceCode))
    return 'The service code stands in quotes, and they are sent as a part of it: files with variables (docker --env-file) keep quotes.';
  return /^\s|\s$|\p{Cf}/u.test(serviceCode)
    ? 'The service code has spaces around it, or characters in it that do not show: type it anew.'
    : undefined;
};

const wrongSecret: Hint = (seen) => {
  if (!isRefused(seen)) return undefined;
  const said =
    seen.failure?.reason === 'api_error'
      ? `ret ${seen.ret ?? 'unknown'}`
      : `HTTP status ${seen.answer?.status ?? ''}`;
  const clock = seen.clock === undefined || isClockSuspect(seen) ? '' : ' The clocks agree.';
  return `The service refused the request with ${said}: mostly the secret is not the one of this service code, or the service does not know the code.${clock} If both are right, compare the string to sign with what the service signs: see signing.template.`;
};

/** Mistakes that the service itself complains of. */
export const refusalHints: readonly Hint[] = [wrongClock, oddSecret, oddCode, wrongSecret];
