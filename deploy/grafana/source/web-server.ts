import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { timeSeries } from './panels.ts';
import { legendOf, perMinute, sum, type Queries } from './queries.ts';

const BY_INSTANCE = legendOf('instance');
const BY_REASON = '{{reason}} ({{instance}}) {{namespace}} {{cluster}}';

/** The web server of each exporter: connections, rejected requests, certificate. */
export function webServer(q: Queries) {
  return [
    timeSeries(
      {
        title: 'Web connections',
        description: 'Open connections to the web server.',
        unit: 'locale',
        span: 6,
        noValue: 'No exporter',
      },
      { expr: q.select(C.webConnections), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Closed connections',
        description: 'Connections per minute that were closed because of a limit.',
        unit: 'suffix: conn/min',
        span: 6,
        noValue: 'No exporter',
      },
      {
        expr: perMinute(sum(['instance', 'reason'], q.ownRate(C.webConnectionsClosed))),
        legend: BY_REASON,
      },
    ),
    timeSeries(
      {
        title: 'Rejected requests',
        description:
          'Requests per minute that were rejected: without a valid password or certificate, or beyond a limit.',
        unit: 'suffix: requests/min',
        span: 6,
        noValue: 'No exporter',
      },
      {
        expr: perMinute(sum(['instance', 'reason'], q.ownRate(C.webRequestsRejected))),
        legend: BY_REASON,
      },
    ),
    timeSeries(
      {
        title: 'Time until the certificate expires',
        description: 'Of the certificate of the web server.',
        unit: 's',
        span: 6,
        noValue: 'No TLS',
      },
      { expr: `${q.select(C.tlsCertificateNotAfter)} - time()`, legend: BY_INSTANCE },
    ),
  ];
}
