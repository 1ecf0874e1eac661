import { expectedFound, formatValue, type Problem } from './config-error.ts';
import type { MergedSettings } from './sources.ts';
import { formatDuration } from './units.ts';

/** Checks the rules between settings that are each valid. */
export function* findBrokenRules({ get, origin, locate }: MergedSettings): Generator<Problem> {
  const staleAfterMs = get('poll.stale_after');
  const intervalMs = get('poll.interval');
  if (staleAfterMs !== undefined && staleAfterMs < intervalMs) {
    const expected = `at least poll.interval (${formatDuration(intervalMs)})`;
    const message = expectedFound(expected, formatDuration(staleAfterMs));
    yield { location: locate('poll.stale_after'), message };
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
