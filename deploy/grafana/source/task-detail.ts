import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { TASK_STATES, thresholds } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { expectedOverTime, expectedTable } from './expected-streams.ts';
import { UIDS } from './links.ts';
import { largestLines, stat, timeSeries, statusStat, stateTimeline } from './panels.ts';
import {
  bits,
  CATCH_UP_NOTE,
  createQueries,
  HLS_NOTE,
  largest,
  legendOf,
  max,
  METERED,
  NOW_NOTE,
  sum,
} from './queries.ts';
import { table } from './tables.ts';

const q = createQueries(['service_code', 'vs_id', 'task_id']);
const now = createQueries(['service_code', 'vs_id', 'task_id'], { window: '5m' });
const TASK = ['service_code', 'task_id'];
const BY_TASK = `{{task}} ${legendOf('service_code')}`;
const NO_TASK = 'No such task. Is metrics.per_task on?';

/**
 * The info of each task, whose value is 1, with a label `task`: its name, or its id where it has none.
 * Replicas can tell different names for a while; one of them is taken.
 */
const info = max(
  ['service_code', 'task_id', 'vs_id', 'formats', 'merging', 'task'],
  ['(.*)', '(.+)'].reduce(
    (series, pattern, index) =>
      `label_replace(${series}, "task", "$1", "${['task_id', 'task_name'][index]}", "${pattern}")`,
    `topk by (cluster, namespace, service_code, task_id) (1, ${q.last(C.taskInfo)})`,
  ),
);

/**
 * Only `xvs_task_info` has the server and the name of a task: multiplying by it filters by server and adds
 * the name.
 */
const named = (expression: string): string =>
  `${expression} * on (cluster, namespace, service_code, task_id) group_left (task) ${info}`;

/** By `TASK_STATES`. */
const taskState = `2 * ${q.last(C.taskStalled)} > 0 or ${q.last(C.taskStalled)} and ${q.last(C.taskInputBytes)} > 0 or 1 + ${q.last(C.taskStalled)}`;
const wasStalled = max(C.taskStalled.labels, `max_over_time(${q.select(C.taskStalled)}[$__rate_interval])`);

const ingressOf = (queries: typeof q): string => bits(sum(TASK, queries.rate(C.taskInputBytes)));
const egressOf = (queries: typeof q): string => bits(sum(TASK, queries.rate(C.taskHttpOutputBytes, METERED)));
const connections = sum(TASK, q.last(C.taskHttpConnections, METERED));

export function taskDetail(): DashboardSpec {
  return {
    uid: UIDS.task,
    title: 'Tasks',
    description: 'Expected streams, and single tasks, which need metrics.per_task.',
    filters: ['service_code', 'vs_id', 'task_id'],
    span: '1h',
    sections: [
      { title: 'Expected streams', panels: [expectedTable(), ...expectedOverTime(q)] },
      { title: 'Single tasks', panels: [...countPanels(), taskTable()] },
      { title: 'Single tasks over time', panels: flowPanels() },
    ],
  };
}

function countPanels() {
  const size = { unit: 'locale', span: 12 };
  return [
    stat(
      { title: 'Tasks shown', description: 'Tasks that match the variables.', noValue: NO_TASK, ...size },
      { expr: `count(${q.last(C.taskInfo)})`, legend: 'Tasks' },
    ).thresholds(thresholds('blue')),
    statusStat(
      {
        title: 'Tasks not exposed',
        description: 'Tasks beyond metrics.max_tasks. They are missing only on this dashboard.',
        noValue: 'None',
        ...size,
      },
      {
        expr: `sum(${q.last(C.foldedLabelSets, `family="${C.taskInfo.name}"`)}) or vector(0)`,
        legend: 'Not exposed',
      },
    ).thresholds(thresholds('green', [1, 'orange'])),
  ];
}

function taskTable() {
  const described = (expression: string): string =>
    `${info} * on (cluster, namespace, service_code, task_id) group_left () (${expression})`;
  return table(
    {
      title: 'Tasks now',
      description: `Each task at the end of the time range. No bytes counted: its total is 0, or it has no byte count. ${NOW_NOTE} ${HLS_NOTE}`,
      unit: 'sishort',
      span: 24,
      height: 10,
      noValue: NO_TASK,
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 170 },
        { label: 'task', title: 'Name', width: 95 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
        { label: 'task_id', title: 'Task', width: 285 },
        { label: 'vs_id', title: 'Server', width: 140 },
        { label: 'formats', title: 'Formats', width: 110 },
        { label: 'merging', title: 'Merging', width: 80 },
      ],
      columns: [
        {
          title: 'State',
          expr: described(taskState),
          unit: 'none',
          mappings: TASK_STATES,
          width: 145,
        },
        { title: 'Progress', expr: described(q.last(C.taskProgress)), unit: 'none' },
        {
          title: 'Observed for',
          expr: described(`time() - ${q.last(C.taskFirstSeen)}`),
          unit: 'dtdurations',
        },
        { title: 'Ingress', expr: described(ingressOf(now)), unit: 'bps' },
        { title: 'Egress', expr: described(egressOf(now)), unit: 'bps' },
        { title: 'Connections', expr: described(connections), unit: 'locale' },
      ],
      sortBy: ['State', 'descending'],
    },
  );
}

function flowPanels() {
  const panel = (title: string, description: string, unit: string, expr: string) =>
    timeSeries(
      { title, description, unit, span: 24, noValue: NO_TASK },
      ...largestLines(TASK, named(expr), BY_TASK),
    );
  return [
    panel('Ingress', `Input in bits per second. ${CATCH_UP_NOTE}`, 'bps', ingressOf(q)),
    panel('Egress', `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`, 'bps', egressOf(q)),
    panel('Connections', `HTTP connections of viewers. ${HLS_NOTE}`, 'locale', connections),
    stateTimeline(
      {
        title: 'Stalled tasks',
        description:
          'Tasks that stalled within the time range, and when: the twenty that stalled longest. Each stall is visible for at least one step of this panel.',
        unit: 'none',
        span: 24,
        noValue: 'No task stalled in this time range',
      },
      {
        // Without this filter every healthy task would have a row.
        expr: largest(TASK, `2 * ${named(wasStalled)} > 0`),
        legend: BY_TASK,
      },
    ).mappings(TASK_STATES),
  ];
}
