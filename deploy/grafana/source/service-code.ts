import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { NO_LISTING, RET, thresholds, UP_OR_DOWN } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { expectedOverTime, expectedTable } from './expected-streams.ts';
import { UIDS } from './links.ts';
import { inputsAndOutputs } from './inputs-and-outputs.ts';
import { stackedSeries, stat, timeSeries, statusStat } from './panels.ts';
import { polls } from './polls.ts';
import {
  CATCH_UP_NOTE,
  countServers,
  egress,
  HLS_NOTE,
  ingress,
  legendOf,
  perMinute,
  createQueries,
  sum,
} from './queries.ts';
import { taskProblems } from './task-problems.ts';
import { volumes } from './volume.ts';

const q = createQueries(['service_code']);
const now = createQueries(['service_code'], { isInstant: true });
const SERVER = ['vs_id'];
const THIRD = { span: 8, noValue: NO_LISTING };
const HALF = { span: 12, noValue: NO_LISTING };

export function serviceCode(): DashboardSpec {
  return {
    uid: UIDS.serviceCode,
    title: 'Service code',
    description: 'One service code, or several combined: state, tasks, bytes, inputs, outputs and polls.',
    filters: ['service_code'],
    span: '3h',
    sections: [
      { panels: [...statePanels(), ...sizePanels(), ...bytePanels()] },
      { title: 'Expected streams', panels: [expectedTable(now), ...expectedOverTime(q)] },
      { title: 'Tasks', panels: taskPanels() },
      { title: 'Inputs and outputs', panels: inputsAndOutputs(q) },
      { title: 'Polls', panels: polls(q) },
    ],
  };
}

function statePanels() {
  const age = `time() - ${q.last(C.lastSuccess)}`;
  return [
    statusStat(
      {
        title: 'State',
        description:
          'Up if the last poll succeeded on at least one exporter. Down if any selected code is down.',
        unit: 'none',
        span: 4,
        noValue: 'Not polled',
      },
      { expr: `min(${q.last(C.up)})`, legend: 'State' },
    )
      .mappings(UP_OR_DOWN)
      .thresholds(thresholds('red', [1, 'green'])),
    statusStat(
      {
        title: 'Last ret',
        description:
          'Result of the last response; values other than 0 are errors. The maximum of the selected codes.',
        unit: 'none',
        span: 4,
        noValue: 'No answer',
      },
      { expr: `max(${q.last(C.ret)})`, legend: 'ret' },
    )
      .mappings(RET)
      .thresholds(thresholds('red', [0, 'green'], [1, 'red'])),
    statusStat(
      {
        title: 'Age of data',
        description:
          'Time since the last good listing; the maximum of the selected codes. Gauges disappear after poll.stale_after.',
        unit: 'dtdurations',
        span: 4,
        noValue: 'No listing yet',
      },
      { expr: `max(${age})`, legend: 'Age' },
    ).thresholds(thresholds('green', [120, 'orange'], [300, 'red'])),
    ...taskProblems(q),
  ];
}

function sizePanels() {
  const stats = [
    {
      title: 'Users online',
      description: 'Users in the last listing.',
      expr: `sum(${q.last(C.listingUsers)})`,
    },
    { title: 'Tasks', description: 'Tasks in the last listing.', expr: `sum(${q.last(C.listingTasks)})` },
    {
      title: 'Servers',
      description: 'Servers with users or tasks, of all selected codes.',
      expr: countServers(q, []),
    },
  ];
  const sizes = stats.map(({ title, description, expr }) =>
    stat(
      { title, description, unit: 'locale', span: 4, noValue: NO_LISTING },
      { expr, legend: title },
    ).thresholds(thresholds('blue')),
  );
  return [...sizes, ...volumes(q)];
}

function bytePanels() {
  return [
    stackedSeries(
      {
        title: 'Ingress by server',
        description: `Input of tasks in bits per second. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: ingress(q, SERVER), legend: legendOf('vs_id') },
    ),
    stackedSeries(
      {
        title: 'Egress by format',
        description: `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: egress(q, ['format']), legend: '{{format}}' },
    ),
  ];
}

function taskPanels() {
  return [
    stackedSeries(
      { title: 'Tasks by server', description: 'Tasks in the last listing.', unit: 'none', ...THIRD },
      { expr: sum(SERVER, q.last(C.tasks)), legend: legendOf('vs_id') },
    ),
    timeSeries(
      {
        title: 'Live and file tasks',
        description:
          'Tasks with progress process a file. Tasks without are live, or file tasks at their start.',
        unit: 'none',
        ...THIRD,
      },
      { expr: `sum(${q.last(C.tasks)}) - sum(${q.last(C.tasksWithProgress)})`, legend: 'without progress' },
      { expr: `sum(${q.last(C.tasksWithProgress)})`, legend: 'with progress' },
    ),
    timeSeries(
      {
        title: 'Stalled tasks by server',
        description: 'Live tasks that received input before, but none for poll.stall_after.',
        unit: 'none',
        ...THIRD,
      },
      { expr: sum(SERVER, q.last(C.tasksStalled)), legend: legendOf('vs_id') },
    ),
    timeSeries(
      {
        title: 'Other task problems',
        description:
          'Live tasks that have never received input, and file tasks whose progress has not changed, for poll.stall_after; byte counts that wait for three listings to confirm them.',
        unit: 'none',
        ...THIRD,
      },
      { expr: `sum(${q.last(C.tasksWithoutInput)})`, legend: 'without input' },
      { expr: `sum(${q.last(C.fileTasksStalled)})`, legend: 'stalled file tasks' },
      { expr: `sum(${q.last(C.byteCountsWaiting)})`, legend: 'byte counts waiting' },
    ),
    timeSeries(
      {
        title: 'Task churn',
        description: 'Tasks that started and ended, per minute.',
        unit: 'suffix: tasks/min',
        ...THIRD,
      },
      { expr: perMinute(`sum(${q.rate(C.tasksStarted)})`), legend: 'started' },
      { expr: perMinute(`sum(${q.rate(C.tasksEnded)})`), legend: 'ended' },
    ),
    timeSeries(
      {
        title: 'Lifetime of ended tasks',
        description: 'Time from first to last listing. No value if no task ended.',
        unit: 's',
        span: 8,
        noValue: 'No task ended in this time range',
      },
      { expr: q.quantile(0.5, C.taskLifetime), legend: 'median' },
      { expr: q.quantile(0.9, C.taskLifetime), legend: '90 %' },
    ).spanNulls(true),
  ];
}
