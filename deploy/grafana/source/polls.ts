import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { thresholds } from './appearance.ts';
import { statusStat, timeSeries } from './panels.ts';
import { errorRatio, inDays, largest, legendOf, NOW_NOTE, perMinute, sum, type Queries } from './queries.ts';

const QUARTER = { span: 6, noValue: 'No polls' };
const CODE = ['service_code'];

/** Takes queries for the end of the time range. */
export function failedPolls(q: Queries) {
  return statusStat(
    {
      title: 'Failed polls',
      description: `Share of failed polls, over all selected codes and exporters. ${NOW_NOTE}`,
      unit: 'percentunit',
      span: 4,
      noValue: 'No polls',
    },
    { expr: errorRatio(q, []), legend: 'Failed' },
  )
    .decimals(1)
    .thresholds(thresholds('green', [0.01, 'yellow'], [0.1, 'red']));
}

/** The polls of service codes, over all exporters. */
export function polls(q: Queries) {
  return [
    timeSeries(
      {
        title: 'Failed polls by reason',
        description: 'Failed polls per minute, over all exporters.',
        unit: 'suffix: polls/min',
        ...QUARTER,
      },
      { expr: `${perMinute(sum(['reason'], q.ownRate(C.pollErrors)))} > 0`, legend: '{{reason}}' },
    ).noValue('No poll failed in this time range'),
    timeSeries(
      {
        title: 'Poll duration',
        description:
          'Of the last poll, from its start, with lookup and connection, to the commit or the failure; of the twenty codes with the longest.',
        unit: 's',
        ...QUARTER,
      },
      { expr: largest(CODE, q.last(C.lastPollDuration)), legend: legendOf('service_code') },
    ),
    timeSeries(
      {
        title: 'Listing size',
        description: 'Size of the last body, decompressed, of the twenty codes with the largest.',
        unit: 'bytes',
        ...QUARTER,
      },
      { expr: largest(CODE, q.last(C.responseBytes)), legend: legendOf('service_code') },
    ),
    timeSeries(
      {
        title: 'Certificate of the service',
        description:
          'Days until the first certificate of its chain expires; the minimum of the selected codes.',
        unit: 'suffix: days',
        span: 6,
        noValue: 'No TLS',
      },
      { expr: inDays(`min(${q.select(C.upstreamCertificateNotAfter)}) - time()`), legend: 'first to expire' },
    ),
    timeSeries(
      {
        title: 'Rejected and foreign entries',
        description:
          'Rejected entries of good listings, per minute, and those whose service_code is not the polled one, which count for the polled one.',
        unit: 'suffix: entries/min',
        span: 6,
        noValue: 'No entry was rejected or foreign in this time range',
      },
      {
        expr: `${perMinute(sum(['record', 'reason'], q.rate(C.invalidRecords)))} > 0`,
        legend: '{{record}}: {{reason}}',
      },
      {
        expr: `${perMinute(sum(['record'], q.rate(C.foreignRecords)))} > 0`,
        legend: '{{record}}: of another code',
      },
    ),
    timeSeries(
      {
        title: 'Invalid fields',
        description:
          'Fields of good listings with a wrong type or range, per minute. They count as missing; the rest of their entry is used.',
        unit: 'suffix: fields/min',
        span: 6,
        noValue: 'No field was invalid in this time range',
      },
      {
        expr: `${perMinute(sum(['record', 'field'], q.rate(C.invalidFields)))} > 0`,
        legend: '{{record}}: {{field}}',
      },
    ),
    timeSeries(
      {
        title: 'Listings beyond their limits',
        description: 'Items of good listings that are left out, per minute.',
        unit: 'suffix: items/min',
        span: 6,
        noValue: 'No listing exceeds a limit',
      },
      { expr: `${perMinute(sum(['item'], q.rate(C.listingSurplus)))} > 0`, legend: '{{item}}' },
    ),
    timeSeries(
      {
        title: 'Label sets folded',
        description:
          'Label sets beyond metrics.max_label_sets, folded into __other__, by family; for tasks, those beyond metrics.max_tasks, not exposed.',
        unit: 'none',
        span: 6,
        noValue: 'No label set is folded',
      },
      { expr: `${sum(['family'], q.last(C.foldedLabelSets))} > 0`, legend: '{{family}}' },
    ),
  ];
}
