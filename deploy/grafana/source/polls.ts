import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { timeSeries } from './panels.ts';
import { perMinute, sum, type Queries } from './queries.ts';

const THIRD = { span: 8, noValue: 'No polls' };

/** How the polls of service codes go, all exporters taken together. */
export function polls(q: Queries) {
  return [
    timeSeries(
      {
        title: 'Failed polls by reason',
        description: 'Polls that failed, per minute, of all exporters.',
        unit: 'cpm',
        ...THIRD,
      },
      { expr: `${perMinute(sum(['reason'], q.ownRate(C.pollErrors)))} > 0`, legend: '{{reason}}' },
    ).noValue('No poll has failed in this time'),
    timeSeries(
      {
        title: 'Duration of polls',
        description: 'From the request sent to the listing committed, or to the failure.',
        unit: 's',
        ...THIRD,
      },
      { expr: q.quantile(0.5, C.pollDuration), legend: 'median' },
      { expr: q.quantile(0.95, C.pollDuration), legend: '95 %' },
    ),
    timeSeries(
      { title: 'Size of the listing', description: 'The last body, decompressed.', unit: 'bytes', ...THIRD },
      { expr: q.last(C.responseBytes), legend: '{{service_code}}' },
    ),
    timeSeries(
      {
        title: 'Entries left out',
        description: 'Entries of good listings that break the interface, per minute.',
        unit: 'cpm',
        span: 12,
        noValue: 'No entry was left out in this time',
      },
      {
        expr: `${perMinute(sum(['record', 'reason'], q.rate(C.invalidRecords)))} > 0`,
        legend: '{{record}}: {{reason}}',
      },
    ),
    timeSeries(
      {
        title: 'Label sets folded',
        description: 'Label sets beyond metrics.max_label_sets, summed under __other__, by family.',
        unit: 'none',
        span: 12,
        noValue: 'Nothing is folded',
      },
      { expr: `${sum(['family'], q.last(C.foldedLabelSets))} > 0`, legend: '{{family}}' },
    ),
  ];
}
