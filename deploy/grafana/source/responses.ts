import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { timeSeries } from './panels.ts';
import { max, type Queries } from './queries.ts';

const CODE_OF_INSTANCE = ['instance', 'service_code'];

/** The responses of the service, by exporter and service code. */
export function responses(q: Queries) {
  const noResponse = { span: 8, noValue: 'No response' };
  const byCode = (expr: string) => ({
    expr: max(CODE_OF_INSTANCE, expr),
    legend: '{{service_code}} ({{instance}}) {{namespace}} {{cluster}}',
  });
  return [
    timeSeries(
      { title: 'HTTP status', description: 'Of the last response.', unit: 'none', ...noResponse },
      byCode(q.select(C.httpStatus)),
    ),
    timeSeries(
      {
        title: 'Clock offset',
        description:
          'How far the clock of the exporter is ahead of the service, negative if behind. The service rejects signatures whose time is too far off.',
        unit: 's',
        ...noResponse,
      },
      byCode(q.select(C.clockOffset)),
    ),
    timeSeries(
      {
        title: 'Certificate of the service',
        description: 'Time until the first certificate of its chain expires.',
        unit: 's',
        span: 8,
        noValue: 'No TLS',
      },
      {
        expr: `${max(CODE_OF_INSTANCE, q.select(C.upstreamCertificateNotAfter))} - time()`,
        legend: '{{service_code}} ({{instance}}) {{namespace}} {{cluster}}',
      },
    ),
  ];
}
