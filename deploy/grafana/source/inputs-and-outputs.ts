import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { stackedSeries, timeSeries } from './panels.ts';
import { perMinute, sum, type Queries } from './queries.ts';

const QUARTER = { span: 6, noValue: 'No listing' };

/** What the tasks of service codes are made of. */
export function inputsAndOutputs(q: Queries) {
  return [
    stackedSeries(
      {
        title: 'Inputs by protocol',
        description: 'Inputs by the scheme of their URL; tcp_upload is the one of the service itself.',
        unit: 'none',
        ...QUARTER,
      },
      { expr: sum(['protocol'], q.last(C.inputs)), legend: '{{protocol}}' },
    ),
    stackedSeries(
      { title: 'Outputs by format', description: 'Outputs of tasks.', unit: 'none', ...QUARTER },
      { expr: sum(['format'], q.last(C.outputs)), legend: '{{format}}' },
    ),
    stackedSeries(
      {
        title: 'Streams',
        description: 'Streams of outputs: copied or transcoded.',
        unit: 'none',
        ...QUARTER,
      },
      { expr: sum(['codec_type', 'mode'], q.last(C.streams)), legend: '{{codec_type}} {{mode}}' },
    ),
    timeSeries(
      {
        title: 'Byte counters that began anew',
        description:
          'How often a byte counter of the service went backwards, per minute. It counts as a fresh start.',
        unit: 'cpm',
        ...QUARTER,
      },
      { expr: perMinute(sum(['direction'], q.rate(C.byteCounterResets))), legend: '{{direction}}' },
    ),
  ];
}
