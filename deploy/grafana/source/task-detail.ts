import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import type { FamilySpec } from '../../../src/metrics/family.ts';
import { STALLED_OR_FLOWING, thresholds } from './appearance.ts';
import { UIDS, type Board } from './board.ts';
import { stat, timeSeries, verdict, stateTimeline } from './panels.ts';
import { bits, HLS_NOTE, METERED, queriesOf, sum } from './queries.ts';
import { table } from './tables.ts';

const q = queriesOf(['service_code', 'vs_id', 'task_id']);
const TASK = ['service_code', 'task_id'];
const BY_TASK = '{{task_id}}';
/** This dashboard is empty unless the exporter is told to expose single tasks. */
const OFF = 'No such task; is metrics.per_task on?';
const LARGEST = 'The twenty largest at each moment.';

/** `xvs_task_info` alone knows the server of a task: multiplied with it, which is 1, others can be chosen by server. */
const ofChosenServers = (expression: string): string =>
  `${expression} * on (service_code, task_id) group_left () ${max1(C.taskInfo)}`;
const max1 = (family: FamilySpec): string => `max by (service_code, task_id) (${q.select(family)})`;

const ingress = ofChosenServers(bits(sum(TASK, q.rate(C.taskInputBytes))));
const egress = ofChosenServers(bits(sum(TASK, q.rate(C.taskHttpOutputBytes, METERED))));
const connections = ofChosenServers(sum(TASK, q.last(C.taskHttpConnections, METERED)));

/** Single tasks, where `metrics.per_task` is on. */
export function taskDetail(): Board {
  return {
    uid: UIDS.task,
    title: 'Task detail',
    description: 'Single tasks. Empty unless metrics.per_task of the exporter is on.',
    filters: ['service_code', 'vs_id', 'task_id'],
    span: '1h',
    sections: [{ panels: [...counts(), everyTask()] }, { title: 'Over time', panels: flows() }],
  };
}

function counts() {
  return [
    stat(
      {
        title: 'Tasks shown',
        description: 'Tasks that match the variables.',
        unit: 'locale',
        span: 6,
        noValue: OFF,
      },
      { expr: `count(${q.last(C.taskInfo)})`, legend: 'Tasks' },
    ).thresholds(thresholds('blue')),
    verdict(
      {
        title: 'Tasks left out',
        description: 'Tasks beyond metrics.max_tasks: they are in all other figures, but not here.',
        unit: 'locale',
        span: 6,
        noValue: 'None',
      },
      { expr: `sum(${q.last(C.foldedLabelSets, `family="${C.taskInfo.name}"`)})`, legend: 'Left out' },
    ).thresholds(thresholds('green', [1, 'orange'])),
    verdict(
      {
        title: 'Stalled',
        description: 'Live tasks, of those shown, whose input stands still.',
        unit: 'locale',
        span: 6,
        noValue: OFF,
      },
      { expr: `sum(${ofChosenServers(q.last(C.taskStalled))})`, legend: 'Stalled' },
    ).thresholds(thresholds('green', [1, 'orange'])),
    stat(
      {
        title: 'Ingress',
        description: 'Bits per second of the tasks shown.',
        unit: 'bps',
        span: 6,
        noValue: OFF,
      },
      { expr: `sum(${ingress})`, legend: 'In' },
    ).thresholds(thresholds('blue')),
  ];
}

function everyTask() {
  const described = (expression: string): string =>
    `${q.last(C.taskInfo)} * on (service_code, task_id) group_left () (${expression})`;
  return table(
    {
      title: 'Tasks now',
      description: `Each task, as of the end of the time range. ${HLS_NOTE}`,
      unit: 'short',
      span: 24,
      height: 10,
      noValue: OFF,
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 120 },
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
        { title: 'Known for', expr: described(`time() - ${q.last(C.taskFirstSeen)}`), unit: 's' },
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

function flows() {
  const text = (title: string, description: string, unit: string) => ({
    title,
    description,
    unit,
    span: 24,
    noValue: OFF,
  });
  return [
    timeSeries(text('Ingress', `Bits per second that a task receives. ${LARGEST}`, 'bps'), {
      expr: `topk(20, ${ingress})`,
      legend: BY_TASK,
    }),
    timeSeries(
      text(
        'Egress',
        `Bits per second that a task's HTTP live output delivers. ${LARGEST} ${HLS_NOTE}`,
        'bps',
      ),
      { expr: `topk(20, ${egress})`, legend: BY_TASK },
    ),
    timeSeries(text('Connections', `HTTP connections of viewers. ${LARGEST} ${HLS_NOTE}`, 'locale'), {
      expr: `topk(20, ${connections})`,
      legend: BY_TASK,
    }),
    stateTimeline(
      {
        title: 'Tasks that stalled',
        description: 'Tasks that stalled at some time, and when: the first twenty.',
        unit: 'none',
        span: 24,
        noValue: 'No task has stalled in this time',
      },
      {
        // Without the filter a row would stand here for every healthy task.
        expr: `${ofChosenServers(q.last(C.taskStalled))} > 0`,
        legend: BY_TASK,
      },
    )
      .mappings(STALLED_OR_FLOWING)
      .thresholds(thresholds('green', [1, 'orange'])),
  ];
}
