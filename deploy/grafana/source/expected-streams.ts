import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { thresholds, UP_OR_DOWN } from './appearance.ts';
import { TASKS_LINK } from './links.ts';
import { largestLines, stateTimeline, statusStat, timeSeries, upOrDown } from './panels.ts';
import {
  bits,
  CATCH_UP_NOTE,
  createQueries,
  HLS_NOTE,
  largest,
  legendOf,
  max,
  sum,
  wasDown,
  type Queries,
} from './queries.ts';
import { table } from './tables.ts';

/** As long as the page and XvsExpectedTaskSlow look back. */
const now = createQueries(['service_code'], { window: '2m' });
const EXPECTED = ['service_code', 'task_name'];
const BY_STREAM = `{{task_name}} ${legendOf('service_code')}`;
const NO_EXPECTATION = 'No service code has an expectation';

const inputRate = (q: Queries): string => sum(EXPECTED, q.rate(C.expectedTaskInputBytes));
const minInputRate = (q: Queries): string => max(EXPECTED, q.select(C.expectedTaskMinInputRate));

/**
 * The mean of the best replica in each step: a pod that is replaced, or a replica without the service,
 * changes nothing.
 */
const timeUp = (q: Queries): string =>
  `avg_over_time(${max(EXPECTED, `avg_over_time(${q.select(C.expectedTaskUp)}[$__interval])`)}[$__range:$__interval])`;

/** The number of expected streams that are down. */
export function expectedDown(q: Queries) {
  return statusStat(
    {
      title: 'Expected down',
      description: 'Names in expect of which no live task is listed, has received input and is not stalled.',
      unit: 'none',
      span: 4,
      noValue: 'No expectation',
    },
    { expr: `sum(${max(EXPECTED, q.select(C.expectedTaskUp))} == bool 0)`, legend: 'Down' },
  )
    .thresholds(thresholds('green', [1, 'red']))
    .overrideByRegexp('/.*/', [{ id: 'links', value: [TASKS_LINK] }]);
}

/** A row for each expected stream at the end of the time range, with what its expectation says. */
export function expectedTable() {
  return table(
    {
      title: 'Expected streams now',
      description: `Each name in expect at the end of the time range, and the minima of its expectation. Time up: share of the time range in which an exporter saw it up, where one was scraped. Rates are of the last 2 minutes; of the last hour for a code that is polled less often than every minute. Received and delivered: bytes of the time range, over restarts of tasks. No outputs: no task of the name is listed. ${HLS_NOTE}`,
      unit: 'sishort',
      span: 24,
      height: 6,
      noValue: NO_EXPECTATION,
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 330 },
        { label: 'task_name', title: 'Stream', width: 180 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
      ],
      columns: [
        {
          title: 'State',
          expr: max(EXPECTED, now.select(C.expectedTaskUp)),
          unit: 'none',
          mappings: UP_OR_DOWN,
          width: 90,
        },
        { title: 'Time up', expr: timeUp(now), unit: 'percentunit' },
        { title: 'Input', expr: bits(inputRate(now)), unit: 'bps' },
        { title: 'Min. input', expr: bits(minInputRate(now)), unit: 'bps' },
        {
          title: 'Of min.',
          expr: `round(${inputRate(now)} / ${minInputRate(now)}, 0.01)`,
          unit: 'percentunit',
          thresholds: thresholds('transparent', [0, 'red'], [1, 'green']),
        },
        {
          title: 'Connections',
          expr: sum(EXPECTED, now.last(C.expectedTaskHttpConnections)),
          unit: 'locale',
        },
        { title: 'Outputs', expr: max(EXPECTED, now.last(C.expectedTaskOutputs)), unit: 'none' },
        { title: 'Due outputs', expr: max(EXPECTED, now.select(C.expectedTaskDueOutputs)), unit: 'none' },
        { title: 'Received', expr: sum(EXPECTED, now.increase(C.expectedTaskInputBytes)), unit: 'decbytes' },
        {
          title: 'Delivered',
          expr: sum(EXPECTED, now.increase(C.expectedTaskHttpOutputBytes)),
          unit: 'decbytes',
        },
      ],
      sortBy: ['State', 'ascending'],
    },
  );
}

export function expectedTimeline(q: Queries) {
  return stateTimeline(
    {
      title: 'Expected streams',
      description:
        'Up while a live task of the name is listed, has received input and is not stalled. Each outage is visible for at least one step of this panel. The names are in expect of the service code. Of more than 50 streams, those that were down: at most 50.',
      unit: 'none',
      span: 24,
      noValue: NO_EXPECTATION,
    },
    upOrDown({
      expr: max(EXPECTED, `min_over_time(${q.select(C.expectedTaskUp)}[$__rate_interval])`),
      legend: BY_STREAM,
      labels: EXPECTED,
      wasDown: wasDown(EXPECTED, q.select(C.expectedTaskUp)),
    }),
  ).mappings(UP_OR_DOWN);
}

/** What expected streams carried, beside the minima of their expectations as dashed lines. */
export function expectedOverTime(q: Queries) {
  const text = { span: 12, noValue: NO_EXPECTATION };
  const input = bits(inputRate(q));
  return [
    timeSeries(
      {
        title: 'Input of expected streams',
        description: `Input in bits per second, over restarts of tasks. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...text,
      },
      ...largestLines(EXPECTED, input, BY_STREAM),
      { expr: largest(EXPECTED, bits(minInputRate(q)), input), legend: `minimum of ${BY_STREAM}` },
    ).overrideByRegexp('/^minimum of /', [
      { id: 'custom.lineStyle', value: { fill: 'dash', dash: [10, 10] } },
    ]),
    timeSeries(
      {
        title: 'Connections to expected streams',
        description: `HTTP connections of all outputs. ${HLS_NOTE}`,
        unit: 'locale',
        ...text,
      },
      ...largestLines(EXPECTED, sum(EXPECTED, q.last(C.expectedTaskHttpConnections)), BY_STREAM),
    ),
  ];
}
