import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, RET, thresholds, UP_OR_DOWN } from './appearance.ts';
import { clients } from './clients.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { expectedDown, expectedTable } from './expected-streams.ts';
import { firingAlerts } from './firing-alerts.ts';
import { inputs, outputs } from './inputs-and-outputs.ts';
import { UIDS } from './links.ts';
import { stat, statusStat, timeSeries } from './panels.ts';
import { failedPolls, polls } from './polls.ts';
import { countServers, createQueries, inMinutes, perMinute } from './queries.ts';
import { servers } from './servers.ts';
import { taskProblems } from './task-problems.ts';
import { monthVolumes, volumes } from './volume.ts';

const q = createQueries(['service_code']);
const now = createQueries(['service_code'], { window: '5m' });

export function serviceCode(): DashboardSpec {
  return {
    uid: UIDS.serviceCode,
    title: 'Service code',
    description:
      'One service code, or several combined: state, inputs, outputs, tasks, servers, clients and polls. Server filters the row Servers.',
    filters: ['service_code', 'vs_id'],
    span: '3h',
    sections: [
      { panels: [...statePanels(), ...sizePanels()] },
      { title: 'Alerts', panels: firingAlerts('service_code') },
      { title: 'Expected streams', panels: [expectedTable()] },
      { title: 'Inputs', panels: inputs(q) },
      { title: 'Outputs', panels: outputs(q) },
      { title: 'Tasks', panels: taskPanels() },
      { title: 'Servers', panels: servers() },
      { title: 'Clients', panels: clients(now) },
      { title: 'Polls', panels: polls(q) },
      { title: 'This month', isCollapsed: true, panels: monthVolumes(q) },
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
          'Poll intervals since the last good listing; the maximum of the selected codes. Gauges disappear after poll.stale_after.',
        unit: 'suffix: × interval',
        span: 4,
        noValue: 'No listing yet',
      },
      { expr: `max((${age}) / ${q.last(C.pollInterval)})`, legend: 'Age' },
    )
      .decimals(1)
      .thresholds(thresholds('green', [2, 'orange'], [3, 'red'])),
    expectedDown(q),
    ...taskProblems(q),
  ];
}

function sizePanels() {
  const sizes = [
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
  ].map(({ title, description, expr }) =>
    stat(
      { title, description, unit: 'locale', span: 4, noValue: NO_LISTING },
      { expr, legend: title },
    ).thresholds(thresholds('blue')),
  );
  return [failedPolls(now), ...sizes, ...volumes(q)];
}

function taskPanels() {
  const size = { span: 6, noValue: NO_LISTING };
  return [
    timeSeries(
      {
        title: 'Live and file tasks',
        description:
          'Tasks with progress process a file. Tasks without are live, or file tasks at their start. Expected: live tasks that must run.',
        unit: 'none',
        ...size,
      },
      { expr: `sum(${q.last(C.tasks)}) - sum(${q.last(C.tasksWithProgress)})`, legend: 'without progress' },
      { expr: `sum(${q.last(C.tasksWithProgress)})`, legend: 'with progress' },
      { expr: `sum(${q.last(C.expectedTasks)})`, legend: 'expected' },
    ),
    timeSeries(
      {
        title: 'Task problems',
        description:
          'Live tasks that received input before, but none for poll.stall_after, or never; file tasks whose progress has not changed for as long.',
        unit: 'none',
        ...size,
      },
      { expr: `sum(${q.last(C.tasksStalled)})`, legend: 'stalled' },
      { expr: `sum(${q.last(C.tasksWithoutInput)})`, legend: 'without input' },
      { expr: `sum(${q.last(C.fileTasksStalled)})`, legend: 'stalled file tasks' },
    ),
    timeSeries(
      {
        title: 'Starts and ends',
        description: 'Tasks that started and ended, per minute.',
        unit: 'suffix: tasks/min',
        ...size,
      },
      { expr: perMinute(`sum(${q.rate(C.tasksStarted)})`), legend: 'started' },
      { expr: perMinute(`sum(${q.rate(C.tasksEnded)})`), legend: 'ended' },
    ),
    timeSeries(
      {
        title: 'Lifetime of ended tasks',
        description: 'Time from first to last listing. No value if no task ended.',
        unit: 'suffix: min',
        span: 6,
        noValue: 'No task ended in this time range',
      },
      { expr: inMinutes(q.quantile(0.5, C.taskLifetime)), legend: 'median' },
      { expr: inMinutes(q.quantile(0.9, C.taskLifetime)), legend: '90 %' },
    ).spanNulls(true),
  ];
}
