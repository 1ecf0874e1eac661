import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { thresholds } from './appearance.ts';
import { stat } from './panels.ts';
import { HLS_NOTE, METERED, type Queries } from './queries.ts';

const ACCURACY =
  'Off by at most 2 % once there are 20 minutes of data; without state, bytes before a restart are missing.';
const TEN_MINUTES_MS = 600_000;

/** Bytes over the time range. */
export function volumes(q: Queries) {
  return inAndOut(q, 'volume', 'Bytes of the time range.', 4);
}

/**
 * Bytes of this month. They take Prometheus long: Grafana asks when their row is opened, and caches where it
 * can.
 */
export function monthVolumes(q: Queries) {
  const period = 'Bytes since the start of the month, if the time range ends now.';
  return inAndOut(q, 'this month', period, 12).map((panel) =>
    panel.timeFrom('now/M').hideTimeOverride(true).queryCachingTTL(TEN_MINUTES_MS),
  );
}

function inAndOut(q: Queries, suffix: string, period: string, span: number) {
  const text = { unit: 'decbytes', span, noValue: 'No counter' };
  return [
    stat(
      { title: `Ingress ${suffix}`, description: `${period} ${ACCURACY}`, ...text },
      { expr: `sum(${q.increase(C.inputBytes)})`, legend: 'In' },
    ),
    stat(
      { title: `Egress ${suffix}`, description: `${period} ${ACCURACY} ${HLS_NOTE}`, ...text },
      { expr: `sum(${q.increase(C.httpOutputBytes, METERED)})`, legend: 'Out' },
    ),
  ].map((panel) => panel.thresholds(thresholds('blue')));
}
