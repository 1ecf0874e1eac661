import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { thresholds } from './appearance.ts';
import { stat } from './panels.ts';
import { HLS_NOTE, METERED, type Queries } from './queries.ts';

const EXACT =
  'The counter at the end minus the counter at the start: exact with state.path; without, bytes before a restart are missing.';

/** Bytes over the time range, and of this month. */
export function volumes(q: Queries) {
  const text = { unit: 'decbytes', span: 4, noValue: 'No counter' };
  const ingress = `sum(${q.growth(C.inputBytes)})`;
  const egress = `sum(${q.growth(C.httpOutputBytes, METERED)})`;
  return [
    stat(
      { title: 'Ingress volume', description: `Bytes of the time range. ${EXACT}`, ...text },
      { expr: ingress, legend: 'In' },
    ),
    stat(
      { title: 'Egress volume', description: `Bytes of the time range. ${EXACT} ${HLS_NOTE}`, ...text },
      { expr: egress, legend: 'Out' },
    ),
    stat(
      {
        title: 'Egress this month',
        description: `Bytes since the start of the month, if the time range ends now. ${EXACT} ${HLS_NOTE}`,
        ...text,
      },
      { expr: egress, legend: 'Out' },
    )
      .timeFrom('now/M')
      .hideTimeOverride(true),
  ].map((panel) => panel.thresholds(thresholds('blue')));
}
