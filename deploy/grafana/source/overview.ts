import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, thresholds, UP_OR_DOWN } from './appearance.ts';
import { UIDS, type Board } from './board.ts';
import { dashedThresholds, stat, stateTimeline, timeSeries, verdict } from './panels.ts';
import { CATCH_UP_NOTE, egress, errorRatio, HLS_NOTE, ingress, max, queriesOf, sum } from './queries.ts';
import { everyCode } from './service-codes.ts';
import { stalledTasks } from './stalled-tasks.ts';

const q = queriesOf(['service_code']);
const CODE = ['service_code'];
const BY_CODE = '{{service_code}}';

/** What somebody who is woken at night looks at first. */
export function overview(): Board {
  return {
    uid: UIDS.overview,
    title: 'Overview',
    description: 'All service codes: which are down, what fails, who watches, what flows.',
    filters: ['service_code'],
    span: '3h',
    sections: [
      { panels: [...verdicts(), ...totals(), states(), errorRatios()] },
      { title: 'Now', panels: [everyCode(q)] },
      { title: 'Over time', panels: flows() },
    ],
  };
}

function verdicts() {
  return [
    verdict(
      {
        title: 'Codes down',
        description: 'Service codes whose last poll failed at every exporter that polls them.',
        unit: 'none',
        span: 3,
        noValue: 'No exporter',
      },
      { expr: `sum(${q.last(C.up)} == bool 0)`, legend: 'Down' },
    ).thresholds(thresholds('green', [1, 'red'])),
    verdict(
      {
        title: 'Exporters down',
        description:
          'Targets of Prometheus that it could not scrape. Nothing else here is current while one is down.',
        unit: 'none',
        span: 3,
        noValue: 'No exporter',
      },
      { expr: `sum(${q.selectNamed('up')} == bool 0)`, legend: 'Down' },
    ).thresholds(thresholds('green', [1, 'red'])),
    verdict(
      {
        title: 'Failed polls',
        description: 'Share of polls that failed, of all service codes and exporters.',
        unit: 'percentunit',
        span: 3,
        noValue: 'No polls',
      },
      { expr: errorRatio(q, []), legend: 'Failed' },
    )
      .decimals(1)
      .thresholds(thresholds('green', [0.01, 'yellow'], [0.1, 'red'])),
    stalledTasks(q),
  ];
}

function totals() {
  const size = { span: 3, noValue: NO_LISTING };
  return [
    stat(
      { title: 'Users online', description: 'Users in the last listings.', unit: 'locale', ...size },
      { expr: `sum(${q.last(C.onlineUsers)})`, legend: 'Users' },
    ),
    stat(
      { title: 'Tasks', description: 'Tasks in the last listings.', unit: 'locale', ...size },
      { expr: `sum(${q.last(C.tasks)})`, legend: 'Tasks' },
    ),
    stat(
      { title: 'Ingress', description: 'Bits per second that tasks receive.', unit: 'bps', ...size },
      { expr: ingress(q, []), legend: 'In' },
    ),
    stat(
      {
        title: 'Egress',
        description: `Bits per second that HTTP live output delivers. ${HLS_NOTE}`,
        unit: 'bps',
        ...size,
      },
      { expr: egress(q, []), legend: 'Out' },
    ),
  ].map((panel) => panel.thresholds(thresholds('blue')));
}

function states() {
  return stateTimeline(
    {
      title: 'Service codes',
      description:
        'Up while polls succeed. A failure shows for at least as long as a step of this panel, so that none is too short to be seen.',
      unit: 'none',
      span: 12,
      noValue: 'No exporter polls a service code',
    },
    // A replica that saw it up all the time is enough.
    { expr: max(CODE, `min_over_time(${q.select(C.up)}[$__rate_interval])`), legend: BY_CODE },
  )
    .mappings(UP_OR_DOWN)
    .thresholds(thresholds('red', [1, 'green']));
}

function errorRatios() {
  return dashedThresholds(
    timeSeries(
      {
        title: 'Failed polls by service code',
        description: 'Share of polls that failed. Above the dashed line, something is wrong for good.',
        unit: 'percentunit',
        span: 12,
        noValue: 'No polls',
      },
      { expr: errorRatio(q, CODE), legend: BY_CODE },
    ).thresholds(thresholds('green', [0.1, 'red'])),
  ).axisSoftMax(0.2);
}

function flows() {
  const half = { span: 12, noValue: NO_LISTING };
  const third = { span: 8, noValue: NO_LISTING };
  return [
    timeSeries(
      {
        title: 'Ingress',
        description: `Bits per second that tasks receive. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...half,
      },
      { expr: ingress(q, CODE), legend: BY_CODE },
    ),
    timeSeries(
      {
        title: 'Egress',
        description: `Bits per second that HTTP live output delivers. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...half,
      },
      { expr: egress(q, CODE), legend: BY_CODE },
    ),
    timeSeries(
      { title: 'Users online', description: 'Users in the last listing.', unit: 'locale', ...third },
      { expr: sum(CODE, q.last(C.onlineUsers)), legend: BY_CODE },
    ),
    timeSeries(
      { title: 'Tasks', description: 'Tasks in the last listing.', unit: 'locale', ...third },
      { expr: sum(CODE, q.last(C.tasks)), legend: BY_CODE },
    ),
    timeSeries(
      {
        title: 'Stalled tasks',
        description: 'Live tasks whose input flowed once and has stood still for poll.stall_after.',
        unit: 'none',
        ...third,
      },
      { expr: sum(CODE, q.last(C.tasksStalled)), legend: BY_CODE },
    ),
  ];
}
