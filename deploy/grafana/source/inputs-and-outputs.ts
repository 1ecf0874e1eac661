import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
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
        description: 'Decreases of byte counters of the service per minute. Each counts as a restart from 0.',
        unit: 'cpm',
        ...THIRD,
      },
      { expr: perMinute(sum(['direction'], q.rate(C.byteCounterResets))), legend: '{{direction}}' },
    ),
    timeSeries(
      {
        title: 'Implausible byte counts',
        description:
          'Gains of byte counters of the service that no network could have carried, per minute. They are not counted as bytes. The limits are ledger.max_input_rate and ledger.max_output_rate.',
        unit: 'cpm',
        ...THIRD,
      },
      { expr: perMinute(sum(['direction'], q.rate(C.byteCountImplausible))), legend: '{{direction}}' },
    ),
  ];
}
