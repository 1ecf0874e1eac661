import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import type { FamilySpec } from '../../../src/metrics/catalogue/family.ts';
import { STALLED_OR_FLOWING, thresholds } from './appearance.ts';
import { UIDS, type DashboardSpec } from './dashboard-builder.ts';
import { stat, timeSeries, statusStat, stateTimeline } from './panels.ts';
import { bits, HLS_NOTE, legendOf, max, METERED, createQueries, sum } from './queries.ts';
import { table } from './tables.ts';

const q = createQueries(['service_code', 'vs_id', 'task_id']);
const TASK = ['service_code', 'task_id'];
const BY_TASK = legendOf('task_id');
const NO_TASK = 'No such task. Is metrics.per_task on?';
const LARGEST = 'The twenty largest at each time.';

/** Only `xvs_task_info` has the server of a task. Multiplying by it (its value is 1) filters others by server. */
const filterByServer = (expression: string): string =>
  `${expression} * on (cluster, namespace, service_code, task_id) group_left () ${selectTaskMax(C.taskInfo)}`;
const selectTaskMax = (family: FamilySpec): string => max(TASK, q.select(family));

const ingress = filterByServer(bits(sum(TASK, q.rate(C.taskInputBytes))));
const egress = filterByServer(bits(sum(TASK, q.rate(C.taskHttpOutputBytes, METERED))));
const connections = filterByServer(sum(TASK, q.last(C.taskHttpConnections, METERED)));

export function taskDetail(): DashboardSpec {
  return {
    uid: UIDS.task,
    title: 'Task detail',
    description: 'Single tasks. Empty without metrics.per_task.',
    filters: ['service_code', 'vs_id', 'task_id'],
    span: '1h',
    sections: [{ panels: [...countPanels(), taskTable()] }, { title: 'Over time', panels: flowPanels() }],
  };
}

function countPanels() {
  return [
    stat(
      {
        title: 'Tasks shown',
        description: 'Tasks that match the variables.',
        unit: 'locale',
        span: 6,
        noValue: NO_TASK,
      },
      { expr: `count(${q.last(C.taskInfo)})`, legend: 'Tasks' },
    ).thresholds(thresholds('blue')),
    statusStat(
      {
        title: 'Tasks not exposed',
        description: 'Tasks beyond metrics.max_tasks. They are missing only on this dashboard.',
        unit: 'locale',
        span: 6,
        noValue: 'None',
      },
      { expr: `sum(${q.last(C.foldedLabelSets, `family="${C.taskInfo.name}"`)})`, legend: 'Not exposed' },
    ).thresholds(thresholds('green', [1, 'orange'])),
    statusStat(
      {
        title: 'Stalled',
        description: 'Stalled live tasks among those shown.',
        unit: 'locale',
        span: 6,
        noValue: NO_TASK,
      },
      { expr: `sum(${filterByServer(q.last(C.taskStalled))})`, legend: 'Stalled' },
    ).thresholds(thresholds('green', [1, 'orange'])),
    stat(
      {
        title: 'Ingress',
        description: 'Input of the tasks shown in bits per second.',
        unit: 'bps',
        span: 6,
        noValue: NO_TASK,
      },
      { expr: `sum(${ingress})`, legend: 'In' },
    ).thresholds(thresholds('blue')),
  ];
}

function taskTable() {
  const described = (expression: string): string =>
    `${q.last(C.taskInfo)} * on (cluster, namespace, service_code, task_id) group_left () (${expression})`;
  return table(
    {
      title: 'Tasks now',
      description: `Each task at the end of the time range. ${HLS_NOTE}`,
      unit: 'short',
      span: 24,
      height: 10,
      noValue: NO_TASK,
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 120 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
        { label: 'task_id', title: 'Task', width: 280 },
        { label: 'vs_id', title: 'Server', width: 150 },
        { label: 'formats', title: 'Formats', width: 120 },
        { label: 'merging', title: 'Merging', width: 80 },
      ],
      columns: [
        {
          title: 'State',
          expr: described(q.last(C.taskStalled)),
          unit: 'none',
          mappings: STALLED_OR_FLOWING,
          width: 90,
        },
        { title: 'Progress', expr: described(q.last(C.taskProgress)), unit: 'none', width: 90 },
        {
          title: 'Observed for',
          expr: described(`time() - ${q.last(C.taskFirstSeen)}`),
          unit: 's',
          width: 110,
        },
        { title: 'Ingress', expr: described(bits(sum(TASK, q.rate(C.taskInputBytes)))), unit: 'bps' },
        {
          title: 'Egress',
          expr: described(bits(sum(TASK, q.rate(C.taskHttpOutputBytes, METERED)))),
          unit: 'bps',
        },
        {
          title: 'Connections',
          expr: described(sum(TASK, q.last(C.taskHttpConnections, METERED))),
          unit: 'locale',
        },
      ],
      sortBy: ['Ingress', 'descending'],
    },
  );
}

function flowPanels() {
  const text = (title: string, description: string, unit: string) => ({
    title,
    description,
    unit,
    span: 24,
    noValue: NO_TASK,
  });
  return [
    timeSeries(text('Ingress', `Input in bits per second. ${LARGEST}`, 'bps'), {
      expr: `topk(20, ${ingress})`,
      legend: BY_TASK,
    }),
    timeSeries(text('Egress', `HTTP live output in bits per second. ${LARGEST} ${HLS_NOTE}`, 'bps'), {
      expr: `topk(20, ${egress})`,
      legend: BY_TASK,
    }),
    timeSeries(text('Connections', `HTTP connections of viewers. ${LARGEST} ${HLS_NOTE}`, 'locale'), {
      expr: `topk(20, ${connections})`,
      legend: BY_TASK,
    }),
    stateTimeline(
      {
        title: 'Stalled tasks',
        description: 'Tasks that stalled within the time range, and when: the first twenty.',
        unit: 'none',
        span: 24,
        noValue: 'No task stalled in this time range',
      },
      {
        // Without this filter every healthy task would have a row.
        expr: `${filterByServer(q.last(C.taskStalled))} > 0`,
        legend: BY_TASK,
      },
    )
      .mappings(STALLED_OR_FLOWING)
      .thresholds(thresholds('green', [1, 'orange'])),
  ];
}
