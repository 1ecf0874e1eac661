import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { timeSeries } from './panels.ts';
import { legendOf, perMinute, sum, type Queries } from './queries.ts';

const THIRD = { span: 8, noValue: 'No polls' };

/** The polls of service codes, over all exporters. */
export function polls(q: Queries) {
  return [
    timeSeries(
      {
        title: 'Failed polls by reason',
        description: 'Failed polls per minute, over all exporters.',
        unit: 'suffix: polls/min',
        ...THIRD,
      },
      { expr: `${perMinute(sum(['reason'], q.ownRate(C.pollErrors)))} > 0`, legend: '{{reason}}' },
    ).noValue('No poll failed in this time range'),
    timeSeries(
      {
        title: 'Poll duration',
        description:
          'Of the last poll, from sending the request to committing the listing, or to the failure.',
        unit: 's',
        ...THIRD,
      },
      { expr: q.last(C.lastPollDuration), legend: legendOf('service_code') },
    ),
    timeSeries(
      { title: 'Listing size', description: 'Size of the last body, decompressed.', unit: 'bytes', ...THIRD },
      { expr: q.last(C.responseBytes), legend: legendOf('service_code') },
    ),
    timeSeries(
      {
        title: 'Rejected entries',
        description: 'Entries of good listings that cannot be identified, per minute.',
        unit: 'suffix: entries/min',
        span: 8,
        noValue: 'No entry was rejected in this time range',
      },
      {
        expr: `${perMinute(sum(['record', 'reason'], q.rate(C.invalidRecords)))} > 0`,
        legend: '{{record}}: {{reason}}',
      },
    ),
    timeSeries(
      {
        title: 'Invalid fields',
        description:
          'Fields of good listings with a wrong type or range, per minute. They count as missing; the rest of their entry is used.',
        unit: 'suffix: fields/min',
        span: 8,
        noValue: 'No field was invalid in this time range',
      },
      {
        expr: `${perMinute(sum(['record', 'field'], q.rate(C.invalidFields)))} > 0`,
        legend: '{{record}}: {{field}}',
      },
    ),
    timeSeries(
      {
        title: 'Entries of other service codes',
        description:
          'Entries of good listings whose service_code is not the polled one, per minute. They count for the polled one.',
        unit: 'suffix: entries/min',
        span: 8,
        noValue: 'No entry of another service code',
      },
      { expr: perMinute(sum(['record'], q.rate(C.foreignRecords))), legend: '{{record}}' },
    ),
    timeSeries(
      {
        title: 'Label sets folded',
        description: 'Label sets beyond metrics.max_label_sets, folded into __other__, by family.',
        unit: 'none',
        span: 12,
        noValue: 'No label set is folded',
      },
      { expr: `${sum(['family'], q.last(C.foldedLabelSets))} > 0`, legend: '{{family}}' },
    ),
    timeSeries(
      {
        title: 'Listings beyond their limits',
        description: 'Items of good listings beyond the limits of listing.*, per minute, by item.',
        unit: 'suffix: entries/min',
        span: 12,
        noValue: 'No listing exceeds a limit',
      },
      { expr: `${perMinute(sum(['item'], q.rate(C.listingSurplus)))} > 0`, legend: '{{item}}' },
    ),
  ];
}
