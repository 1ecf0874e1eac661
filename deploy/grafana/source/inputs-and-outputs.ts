import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { stackedSeries, timeSeries } from './panels.ts';
import { bits, CATCH_UP_NOTE, perMinute, sum, type Queries } from './queries.ts';

const THIRD = { span: 8, noValue: 'No listing' };

export function inputsAndOutputs(q: Queries) {
  return [
    stackedSeries(
      {
        title: 'Inputs by protocol',
        description: "Inputs by URL scheme; tcp_upload is the service's own.",
        unit: 'none',
        ...THIRD,
      },
      { expr: sum(['protocol'], q.last(C.inputs)), legend: '{{protocol}}' },
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
      { title: 'Outputs by format', description: 'Outputs of tasks.', unit: 'none', ...THIRD },
      { expr: sum(['format'], q.last(C.outputs)), legend: '{{format}}' },
    ),
    stackedSeries(
      {
        title: 'Streams',
        description: 'Streams of outputs, copied or transcoded.',
        unit: 'none',
        ...THIRD,
      },
      { expr: sum(['codec_type', 'mode'], q.last(C.streams)), legend: '{{codec_type}} {{mode}}' },
    ),
    timeSeries(
      {
        title: 'Byte counter resets',
        description:
          'Byte counts of the service that began again, per minute, each confirmed by three listings.',
        unit: 'suffix: counts/min',
        ...THIRD,
      },
      { expr: perMinute(sum(['direction'], q.rate(C.byteCountResets))), legend: '{{direction}}' },
    ),
    timeSeries(
      {
        title: 'Implausible byte counts',
        description:
          'Byte counts per minute that fall a little or leap by more than ledger.max_stream_rate carries. They wait until three listings in a row confirm them.',
        unit: 'suffix: counts/min',
        ...THIRD,
      },
      { expr: perMinute(sum(['direction'], q.rate(C.byteCountImplausible))), legend: '{{direction}}' },
    ),
  ];
}
