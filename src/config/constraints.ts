import type { ServiceCodeSettings } from './configuration.ts';
import { expectedFound, formatValue, type Problem } from './config-error.ts';
import type { MergedSettings } from './sources.ts';
import { formatDuration } from './units.ts';

/** Checks the rules between settings that are each valid. */
export function checkConstraints(
  settings: MergedSettings,
  codes: readonly Pick<ServiceCodeSettings, 'serviceCode' | 'intervalMs'>[],
): readonly Problem[] {
  return [
    ...checkStaleAfter(settings),
    ...checkMinAge(settings, codes),
    ...checkClientCertificatePair(settings),
    ...checkSigningHeaders(settings),
  ];
}

function checkStaleAfter({ get, locate }: MergedSettings): readonly Problem[] {
  const staleAfterMs = get('poll.stale_after');
  const intervalMs = get('poll.interval');
  if (staleAfterMs === undefined || staleAfterMs >= intervalMs) return [];
  return [
    { location: locate('poll.stale_after'), message: describeShortStaleAfter(staleAfterMs, intervalMs) },
  ];
}

/** Metrics that expire before the next poll would come and go. */
export function describeShortStaleAfter(staleAfterMs: number, intervalMs: number): string {
  const expected = `stale_after of at least the interval (${formatDuration(intervalMs)})`;
  return expectedFound(expected, formatDuration(staleAfterMs));
}

/** In scrape mode the interval is the scrape interval: a code that some scrapes do not poll would become stale. */
function checkMinAge(
  { get, locate }: MergedSettings,
  codes: readonly Pick<ServiceCodeSettings, 'serviceCode' | 'intervalMs'>[],
): readonly Problem[] {
  const minAgeMs = get('poll.min_age');
  const [shortest] = codes.toSorted((one, other) => one.intervalMs - other.intervalMs);
  if (get('poll.mode') !== 'scrape' || shortest === undefined || shortest.intervalMs >= minAgeMs) return [];
  const interval = `${formatValue(shortest.serviceCode)} (${formatDuration(shortest.intervalMs)})`;
  const message = expectedFound(`at most the interval of service code ${interval}`, formatDuration(minAgeMs));
  return [{ location: locate('poll.min_age'), message }];
}

function checkClientCertificatePair({ origin }: MergedSettings): readonly Problem[] {
  const cert = origin('upstream.cert_file');
  const key = origin('upstream.key_file');
  const only = cert ?? key;
  if (only === undefined || (cert !== undefined && key !== undefined)) return [];
  const message = expectedFound('upstream.cert_file and upstream.key_file together', `only ${only.path}`);
  return [{ location: only.locate(), message }];
}

function checkSigningHeaders({ get, origin, locate }: MergedSettings): readonly Problem[] {
  const name = get('signing.timestamp_header');
  if (name.toLowerCase() !== get('signing.signature_header').toLowerCase()) return [];
  const isDefault = origin('signing.timestamp_header') === undefined;
  const message = expectedFound(
    'two different headers for signature and timestamp',
    `${formatValue(name)} for both`,
  );
  return [{ location: locate(isDefault ? 'signing.signature_header' : 'signing.timestamp_header'), message }];
}
