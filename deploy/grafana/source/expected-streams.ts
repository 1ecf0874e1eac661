import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { thresholds, UP_OR_DOWN } from './appearance.ts';
import { timeSeries } from './panels.ts';
import { bits, CATCH_UP_NOTE, HLS_NOTE, legendOf, max, NOW_NOTE, sum, type Queries } from './queries.ts';
import { table } from './tables.ts';

export const EXPECTED = ['service_code', 'task_name'];
export const NO_EXPECTATION = 'No service code has an expectation';

const OF_CODE = legendOf('service_code');
const inputRate = (q: Queries): string => sum(EXPECTED, q.rate(C.expectedTaskInputBytes));
const minInputRate = (q: Queries): string => max(EXPECTED, q.select(C.expectedTaskMinInputRate));
const outputs = (q: Queries): string => max(EXPECTED, q.last(C.expectedTaskOutputs));
const minOutputs = (q: Queries): string => max(EXPECTED, q.select(C.expectedTaskMinOutputs));

/** A row for each expected stream, with what its expectation says. Takes queries for the end of the time range. */
export function expectedTable(q: Queries) {
  return table(
    {
      title: 'Expected streams now',
      description: `Each name in expect at the end of the time range, and the minima of its expectation. Received and delivered: bytes of the time range, over restarts of tasks. Waiting: byte counts that wait to be confirmed. No outputs: no task of the name is listed. ${NOW_NOTE} ${HLS_NOTE}`,
      unit: 'sishort',
      span: 24,
      height: 6,
      noValue: NO_EXPECTATION,
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 230 },
        { label: 'task_name', title: 'Stream', width: 180 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
      ],
      columns: [
        {
          title: 'State',
          expr: max(EXPECTED, q.select(C.expectedTaskUp)),
          unit: 'none',
          mappings: UP_OR_DOWN,
          width: 90,
        },
        { title: 'Input', expr: bits(inputRate(q)), unit: 'bps' },
        { title: 'Min. input', expr: bits(minInputRate(q)), unit: 'bps' },
        {
          title: 'Of min.',
          expr: `round(${inputRate(q)} / ${minInputRate(q)}, 0.01)`,
          unit: 'percentunit',
          thresholds: thresholds('transparent', [0, 'red'], [1, 'green']),
        },
        {
          title: 'Connections',
          expr: sum(EXPECTED, q.last(C.expectedTaskHttpConnections)),
          unit: 'locale',
        },
        { title: 'Outputs', expr: outputs(q), unit: 'none' },
        { title: 'Min. outputs', expr: minOutputs(q), unit: 'none' },
        { title: 'Received', expr: sum(EXPECTED, q.growth(C.expectedTaskInputBytes)), unit: 'decbytes' },
        {
          title: 'Delivered',
          expr: sum(EXPECTED, q.growth(C.expectedTaskHttpOutputBytes)),
          unit: 'decbytes',
        },
        { title: 'Waiting', expr: max(EXPECTED, q.last(C.expectedTaskByteCountsWaiting)), unit: 'none' },
      ],
      sortBy: ['State', 'ascending'],
    },
  );
}

/** What expected streams carried, beside the minima of their expectations as dashed lines. */
export function expectedOverTime(q: Queries) {
  const text = { span: 8, noValue: NO_EXPECTATION };
  const legend = `{{task_name}} ${OF_CODE}`;
  const minimum = `minimum of ${legend}`;
  return [
    timeSeries(
      {
        title: 'Input of expected streams',
        description: `Input in bits per second, over restarts of tasks. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...text,
      },
      { expr: bits(inputRate(q)), legend },
      { expr: bits(minInputRate(q)), legend: minimum },
    ),
    timeSeries(
      {
        title: 'Connections to expected streams',
        description: `HTTP connections of all outputs. ${HLS_NOTE}`,
        unit: 'locale',
        ...text,
      },
      {
        expr: sum(EXPECTED, q.last(C.expectedTaskHttpConnections)),
        legend,
      },
    ),
    timeSeries(
      {
        title: 'Outputs of expected streams',
        description: 'A step down is a missing rendition. No line: no task of the name is listed.',
        unit: 'none',
        ...text,
      },
      { expr: outputs(q), legend },
      { expr: minOutputs(q), legend: minimum },
    ),
  ].map((panel) =>
    panel.overrideByRegexp('/^minimum of /', [
      { id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } },
    ]),
  );
}
