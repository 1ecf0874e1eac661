import { expectedFound, formatValue, type Problem } from './config-error.ts';
import type { ServiceCodeSettings } from './configuration.ts';
import { describeShortStaleAfter } from './service-codes/resolution.ts';
import type { MergedSettings } from './sources.ts';
import { formatDuration } from './units.ts';

/** Checks the rules between settings that are each valid. */
export function* findBrokenRules(
  { get, origin, locate }: MergedSettings,
  codes: readonly ServiceCodeSettings[],
): Generator<Problem> {
  const staleAfterMs = get('poll.stale_after');
  const intervalMs = get('poll.interval');
  if (staleAfterMs !== undefined && staleAfterMs < intervalMs)
    yield {
      location: locate('poll.stale_after'),
      message: describeShortStaleAfter(staleAfterMs, intervalMs),
    };

  // In scrape mode the interval is the scrape interval: a code that some scrapes do not poll would become stale.
  const minAgeMs = get('poll.min_age');
  const [shortest] = codes.toSorted((one, other) => one.intervalMs - other.intervalMs);
  if (get('poll.mode') === 'scrape' && shortest !== undefined && shortest.intervalMs < minAgeMs) {
    const interval = `${formatValue(shortest.serviceCode)} (${formatDuration(shortest.intervalMs)})`;
    const expected = `at most the interval of service code ${interval}`;
    yield { location: locate('poll.min_age'), message: expectedFound(expected, formatDuration(minAgeMs)) };
  }

  const clientFiles = (['upstream.cert_file', 'upstream.key_file'] as const).filter((path) => get(path));
  const [only, both] = clientFiles;
  if (only !== undefined && both === undefined) {
    const message = expectedFound('upstream.cert_file and upstream.key_file together', `only ${only}`);
    yield { location: locate(only), message };
  }

  const header = get('signing.timestamp_header');
  if (header.toLowerCase() === get('signing.signature_header').toLowerCase()) {
    const isDefault = origin('signing.timestamp_header') === undefined;
    const expected = 'two different headers for signature and timestamp';
    yield {
      location: locate(isDefault ? 'signing.signature_header' : 'signing.timestamp_header'),
      message: expectedFound(expected, `${formatValue(header)} for both`),
    };
  }
}
