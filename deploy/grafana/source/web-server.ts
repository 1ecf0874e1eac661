import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { timeSeries } from './panels.ts';
import { inDays, legendOf, perMinute, sum, type Queries } from './queries.ts';

const BY_INSTANCE = legendOf('instance');
const THIRD = { span: 8, noValue: 'No exporter' };
const BY_REASON = '{{reason}} ({{instance}}) {{namespace}} {{cluster}}';

/** The web server of each exporter: rejected requests, certificate. */
export function webServer(q: Queries) {
  return [
    timeSeries(
      {
        title: 'Rejected requests',
        description: 'Without a valid password or certificate, or beyond a limit.',
        unit: 'suffix: requests/min',
        ...THIRD,
      },
      {
        expr: perMinute(sum(['instance', 'reason'], q.ownRate(C.webRequestsRejected))),
        legend: BY_REASON,
      },
    ),
    timeSeries(
      {
        title: 'Closed connections',
        description: 'Connections that were closed because of a limit.',
        unit: 'suffix: connections/min',
        ...THIRD,
      },
      {
        expr: perMinute(sum(['instance', 'reason'], q.ownRate(C.webConnectionsClosed))),
        legend: BY_REASON,
      },
    ),
    timeSeries(
      {
        title: 'Certificate of the web server',
        description: 'Days until it expires.',
        unit: 'suffix: days',
        span: 8,
        noValue: 'No TLS',
      },
      { expr: inDays(`${q.select(C.tlsCertificateNotAfter)} - time()`), legend: BY_INSTANCE },
    ),
  ];
}
