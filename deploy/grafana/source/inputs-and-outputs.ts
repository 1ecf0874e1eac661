import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING } from './appearance.ts';
import { largestLines, stackedSeries, timeSeries } from './panels.ts';
import {
  bits,
  CATCH_UP_NOTE,
  egress,
  HLS_NOTE,
  ingress,
  METERED,
  perMinute,
  sum,
  type Queries,
} from './queries.ts';

const QUARTER = { span: 6, noValue: NO_LISTING };
const THIRD = { span: 8, noValue: NO_LISTING };

export function inputs(q: Queries) {
  return [
    stackedSeries(
      {
        title: 'Ingress',
        description: `Input of tasks in bits per second. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...THIRD,
      },
      ...largestLines(['service_code'], ingress(q, ['service_code'])),
    ),
    stackedSeries(
      {
        title: 'Ingress by protocol',
        description: `Input of tasks with exactly one input, in bits per second. The service does not report how much each input of a merging task receives. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...THIRD,
      },
      { expr: bits(sum(['protocol'], q.rate(C.protocolInputBytes))), legend: '{{protocol}}' },
    ),
    stackedSeries(
      {
        title: 'Inputs by protocol',
        description: "Inputs by URL scheme; tcp_upload is the service's own.",
        unit: 'none',
        ...THIRD,
      },
      { expr: sum(['protocol'], q.last(C.inputs)), legend: '{{protocol}}' },
    ),
  ];
}

export function outputs(q: Queries) {
  const delivered = egress(q, ['format']);
  const connections = sum(['format'], q.last(C.httpConnections, METERED));
  return [
    stackedSeries(
      {
        title: 'Egress by format',
        description: `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...THIRD,
      },
      { expr: delivered, legend: '{{format}}' },
    ),
    stackedSeries(
      {
        title: 'Connections by format',
        description: `HTTP connections of viewers. ${HLS_NOTE}`,
        unit: 'locale',
        ...THIRD,
      },
      { expr: connections, legend: '{{format}}' },
    ),
    timeSeries(
      {
        title: 'Egress per connection',
        description: `Mean output per viewer. 0 means connected viewers who receive nothing. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...THIRD,
      },
      { expr: `${delivered} / (${connections} > 0)`, legend: '{{format}}' },
    ),
    stackedSeries(
      { title: 'Outputs by format', description: 'Outputs of tasks.', unit: 'none', ...QUARTER },
      { expr: sum(['format'], q.last(C.outputs)), legend: '{{format}}' },
    ),
    stackedSeries(
      {
        title: 'Streams',
        description: 'Streams of outputs, copied or transcoded.',
        unit: 'none',
        ...QUARTER,
      },
      { expr: sum(['codec_type', 'mode'], q.last(C.streams)), legend: '{{codec_type}} {{mode}}' },
    ),
    timeSeries(
      {
        title: 'Unusual byte counts',
        description:
          'Byte counts per minute that began again, or that fall a little or leap by more than ledger.max_stream_rate carries. These wait until three listings in a row confirm them.',
        unit: 'suffix: counts/min',
        ...QUARTER,
      },
      {
        expr: perMinute(sum(['direction'], q.rate(C.byteCountResets))),
        legend: 'began again: {{direction}}',
      },
      { expr: perMinute(sum(['direction'], q.rate(C.byteCountImplausible))), legend: 'waits: {{direction}}' },
    ),
    timeSeries(
      {
        title: 'Byte counts waiting',
        description: 'Byte counts of the last listing that wait for later listings to confirm them.',
        unit: 'none',
        span: 6,
        noValue: 'No byte count has waited',
      },
      { expr: sum(['direction'], q.last(C.byteCountsWaiting)), legend: '{{direction}}' },
    ),
  ];
}
