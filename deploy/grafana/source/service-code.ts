import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, RET, thresholds, UP_OR_DOWN } from './appearance.ts';
import { UIDS, type Board } from './board.ts';
import { inputsAndOutputs } from './inputs-and-outputs.ts';
import { stackedSeries, stat, timeSeries, verdict } from './panels.ts';
import { polls } from './polls.ts';
import { CATCH_UP_NOTE, egress, HLS_NOTE, ingress, perMinute, queriesOf, sum } from './queries.ts';
import { stalledTasks } from './stalled-tasks.ts';

const q = queriesOf(['service_code']);
const SERVER = ['vs_id'];
const THIRD = { span: 8, noValue: NO_LISTING };
const HALF = { span: 12, noValue: NO_LISTING };

/** All that is known of one service code, or of several taken together. */
export function serviceCode(): Board {
  return {
    uid: UIDS.serviceCode,
    title: 'Service code',
    description: 'One service code, or several taken together: state, tasks, bytes, and how its polls go.',
    filters: ['service_code'],
    span: '3h',
    sections: [
      { panels: [...state(), ...size(), ...bytes()] },
      { title: 'Tasks', panels: tasks() },
      { title: 'Inputs and outputs', panels: inputsAndOutputs(q) },
      { title: 'Polls', panels: polls(q) },
    ],
  };
}

function state() {
  const age = `time() - ${q.last(C.lastSuccess)}`;
  return [
    verdict(
      {
        title: 'State',
        description:
          'Whether the last poll succeeded, at one exporter at least. Down if any of the chosen codes is.',
        unit: 'none',
        span: 3,
        noValue: 'Not polled',
      },
      { expr: `min(${q.last(C.up)})`, legend: 'State' },
    )
      .mappings(UP_OR_DOWN)
      .thresholds(thresholds('red', [1, 'green'])),
    verdict(
      {
        title: 'Last ret',
        description:
          'What the service answered; any value but 0 is a refusal. The greatest of the chosen codes.',
        unit: 'none',
        span: 3,
        noValue: 'No answer',
      },
      { expr: `max(${q.last(C.ret)})`, legend: 'ret' },
    )
      .mappings(RET)
      .thresholds(thresholds('red', [0, 'green'], [1, 'red'])),
    verdict(
      {
        title: 'Age of data',
        description:
          'Time since the last good listing, in poll intervals, of the code that is worst off. Gauges vanish after three.',
        unit: 'none',
        span: 3,
        noValue: 'No listing yet',
      },
      { expr: `max((${age}) / ${q.last(C.pollInterval)})`, legend: 'Intervals' },
    )
      .decimals(1)
      .thresholds(thresholds('green', [2, 'orange'], [5, 'red'])),
    stalledTasks(q),
  ];
}

function size() {
  const figures = [
    { title: 'Users online', description: 'Users in the last listing.', expr: q.last(C.onlineUsers) },
    { title: 'Tasks', description: 'Tasks in the last listing.', expr: q.last(C.tasks) },
    { title: 'Merging tasks', description: 'Tasks with more than one input.', expr: q.last(C.tasksMerging) },
    { title: 'Servers', description: 'Servers that hold users or tasks.', expr: q.last(C.servers) },
  ];
  return figures.map(({ title, description, expr }) =>
    stat(
      { title, description, unit: 'locale', span: 3, noValue: NO_LISTING },
      { expr: `sum(${expr})`, legend: title },
    ).thresholds(thresholds('blue')),
  );
}

function bytes() {
  return [
    stackedSeries(
      {
        title: 'Ingress by server',
        description: `Bits per second that tasks receive. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: ingress(q, SERVER), legend: '{{vs_id}}' },
    ),
    stackedSeries(
      {
        title: 'Egress by format',
        description: `Bits per second that HTTP live output delivers. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...HALF,
      },
      { expr: egress(q, ['format']), legend: '{{format}}' },
    ),
  ];
}

function tasks() {
  return [
    stackedSeries(
      { title: 'Tasks by server', description: 'Tasks in the last listing.', unit: 'none', ...THIRD },
      { expr: sum(SERVER, q.last(C.tasks)), legend: '{{vs_id}}' },
    ),
    timeSeries(
      {
        title: 'Live and file tasks',
        description:
          'Tasks without progress are live (or file tasks at their start); those with some process a file.',
        unit: 'none',
        ...THIRD,
      },
      { expr: `sum(${q.last(C.tasks)}) - sum(${q.last(C.tasksWithProgress)})`, legend: 'without progress' },
      { expr: `sum(${q.last(C.tasksWithProgress)})`, legend: 'with progress' },
    ),
    timeSeries(
      {
        title: 'Stalled tasks by server',
        description: 'Live tasks whose input stands still.',
        unit: 'none',
        ...THIRD,
      },
      { expr: sum(SERVER, q.last(C.tasksStalled)), legend: '{{vs_id}}' },
    ),
    timeSeries(
      {
        title: 'Tasks that come and go',
        description: 'Tasks that appeared, vanished and stalled, per minute.',
        unit: 'cpm',
        ...HALF,
      },
      { expr: perMinute(`sum(${q.rate(C.tasksStarted)})`), legend: 'started' },
      { expr: perMinute(`sum(${q.rate(C.tasksEnded)})`), legend: 'ended' },
      { expr: perMinute(`sum(${q.rate(C.taskStalls)})`), legend: 'stalled' },
    ),
    timeSeries(
      {
        title: 'Lifetime of tasks that ended',
        description: 'Time from first seen to last seen. There is a value only where tasks ended.',
        unit: 's',
        span: 12,
        noValue: 'No task has ended in this time',
      },
      { expr: q.quantile(0.5, C.taskLifetime), legend: 'median' },
      { expr: q.quantile(0.9, C.taskLifetime), legend: '90 %' },
    ).spanNulls(true),
  ];
}
