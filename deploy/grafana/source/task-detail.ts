import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { STALLED_OR_FLOWING, thresholds } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { UIDS } from './links.ts';
import { stat, timeSeries, statusStat, stateTimeline } from './panels.ts';
import {
  bits,
  CATCH_UP_NOTE,
  createQueries,
  HLS_NOTE,
  legendOf,
  max,
  METERED,
  NOW_NOTE,
  sum,
} from './queries.ts';
import { table } from './tables.ts';

const q = createQueries(['service_code', 'vs_id', 'task_id']);
const TASK = ['service_code', 'task_id'];
const now = createQueries(['service_code', 'vs_id', 'task_id'], { isInstant: true });
const BY_TASK = legendOf('task');
const NO_TASK = 'No such task. Is metrics.per_task on?';
const LARGEST = 'The twenty largest at each time.';

/**
 * The info of each task, whose value is 1, with a label `task`: its name, or its id where it has none. Replicas can tell different
 * names for a while; one of them is taken.
 */
const info = max(
  ['service_code', 'task_id', 'vs_id', 'formats', 'merging', 'task'],
  ['(.*)', '(.+)'].reduce(
    (series, pattern, index) =>
      `label_replace(${series}, "task", "$1", "${['task_id', 'task_name'][index]}", "${pattern}")`,
    `topk by (cluster, namespace, service_code, task_id) (1, ${q.last(C.taskInfo)})`,
  ),
);

/** Only `xvs_task_info` has the server and the name of a task: multiplying by it filters by server and adds the name. */
const named = (expression: string): string =>
  `${expression} * on (cluster, namespace, service_code, task_id) group_left (task) ${info}`;

const ingressOf = (queries: typeof q): string => bits(sum(TASK, queries.rate(C.taskInputBytes)));
const egressOf = (queries: typeof q): string => bits(sum(TASK, queries.rate(C.taskHttpOutputBytes, METERED)));
const connections = sum(TASK, q.last(C.taskHttpConnections, METERED));

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
      {
        expr: `sum(${q.last(C.foldedLabelSets, `family="${C.taskInfo.name}"`)}) or vector(0)`,
        legend: 'Not exposed',
      },
    ).thresholds(thresholds('green', [1, 'orange'])),
    statusStat(
      {
        title: 'Stalled',
        description: 'Stalled live tasks among those shown.',
        unit: 'locale',
        span: 6,
        noValue: NO_TASK,
      },
      { expr: `sum(${named(q.last(C.taskStalled))})`, legend: 'Stalled' },
    ).thresholds(thresholds('green', [1, 'orange'])),
    stat(
      {
        title: 'Ingress',
        description: `Input of the tasks shown in bits per second. ${NOW_NOTE} ${CATCH_UP_NOTE}`,
        unit: 'bps',
        span: 6,
        noValue: NO_TASK,
      },
      { expr: `sum(${named(ingressOf(now))})`, legend: 'In' },
    ).thresholds(thresholds('blue')),
  ];
}

function taskTable() {
  const described = (expression: string): string =>
    `${info} * on (cluster, namespace, service_code, task_id) group_left () (${expression})`;
  return table(
    {
      title: 'Tasks now',
      description: `Each task at the end of the time range. ${NOW_NOTE} ${HLS_NOTE}`,
      unit: 'sishort',
      span: 24,
      height: 10,
      noValue: NO_TASK,
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 120 },
        { label: 'task', title: 'Name', width: 200 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
        { label: 'task_id', title: 'Task', width: 150 },
        { label: 'vs_id', title: 'Server', width: 140 },
        { label: 'formats', title: 'Formats', width: 110 },
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
        { title: 'Progress', expr: described(q.last(C.taskProgress)), unit: 'none', width: 80 },
        {
          title: 'Observed for',
          expr: described(`time() - ${q.last(C.taskFirstSeen)}`),
          unit: 'dtdurations',
        },
        { title: 'Ingress', expr: described(ingressOf(now)), unit: 'bps' },
        {
          title: 'Egress',
          expr: described(egressOf(now)),
          unit: 'bps',
        },
        {
          title: 'Connections',
          expr: described(connections),
          unit: 'locale',
        },
      ],
      sortBy: ['State', 'descending'],
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
    timeSeries(text('Ingress', `Input in bits per second. ${LARGEST} ${CATCH_UP_NOTE}`, 'bps'), {
      expr: `topk(20, ${named(ingressOf(q))})`,
      legend: BY_TASK,
    }),
    timeSeries(
      text('Egress', `HTTP live output in bits per second. ${LARGEST} ${CATCH_UP_NOTE} ${HLS_NOTE}`, 'bps'),
      {
        expr: `topk(20, ${named(egressOf(q))})`,
        legend: BY_TASK,
      },
    ),
    timeSeries(text('Connections', `HTTP connections of viewers. ${LARGEST} ${HLS_NOTE}`, 'locale'), {
      expr: `topk(20, ${named(connections)})`,
      legend: BY_TASK,
    }),
    stateTimeline(
      {
        title: 'Stalled tasks',
        description: 'Tasks that stalled within the time range, and when: at most twenty at each time.',
        unit: 'none',
        span: 24,
        noValue: 'No task stalled in this time range',
      },
      {
        // Without this filter every healthy task would have a row.
        expr: `topk(20, ${named(q.last(C.taskStalled))} > 0)`,
        legend: BY_TASK,
      },
    ).mappings(STALLED_OR_FLOWING),
  ];
}
