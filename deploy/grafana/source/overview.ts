import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { NO_LISTING, thresholds, UP_OR_DOWN } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { UIDS } from './links.ts';
import { firingAlerts } from './firing-alerts.ts';
import { dashedThresholds, stat, stateTimeline, timeSeries, statusStat } from './panels.ts';
import {
  CATCH_UP_NOTE,
  egress,
  errorRatio,
  HLS_NOTE,
  ingress,
  legendOf,
  max,
  NOW_NOTE,
  createQueries,
  wasDown,
} from './queries.ts';
import { EXPECTED, expectedTable, NO_EXPECTATION } from './expected-streams.ts';
import { serviceCodeTable } from './service-codes.ts';
import { taskProblems, taskProblemsOverTime } from './task-problems.ts';
import { volumes } from './volume.ts';

const q = createQueries(['service_code']);
const now = createQueries(['service_code'], { isInstant: true });
const CODE = ['service_code'];
const BY_CODE = legendOf('service_code');

export function overview(): DashboardSpec {
  return {
    uid: UIDS.overview,
    title: 'Overview',
    description: 'All service codes: failures, users, tasks and traffic.',
    filters: ['service_code'],
    span: '3h',
    sections: [
      { panels: [...statusPanels(), ...totalPanels()] },
      { title: 'Alerts', panels: [firingAlerts()] },
      { title: 'Expected streams', panels: [expectedTable(now), ...expectedPanels()] },
      { title: 'Service codes', panels: [stateTimelinePanel(), errorRatios()] },
      { title: 'Now', panels: [serviceCodeTable(now)] },
      { title: 'Over time', panels: flowPanels() },
    ],
  };
}

function statusPanels() {
  return [
    statusStat(
      {
        title: 'Codes down',
        description: 'Service codes whose last poll failed at every exporter that polls them.',
        unit: 'none',
        span: 4,
        noValue: 'No exporter',
      },
      { expr: `sum(${q.last(C.up)} == bool 0)`, legend: 'Down' },
    ).thresholds(thresholds('green', [1, 'red'])),
    statusStat(
      {
        title: 'Exporters down',
        description: 'Exporters that Prometheus cannot scrape. Their data on this dashboard is not current.',
        unit: 'none',
        span: 4,
        noValue: 'No exporter',
      },
      { expr: `sum(${q.selectNamed('up')} == bool 0)`, legend: 'Down' },
    ).thresholds(thresholds('green', [1, 'red'])),
    statusStat(
      {
        title: 'Expected down',
        description:
          'Names in expect of which no live task is listed, has received input and is not stalled.',
        unit: 'none',
        span: 4,
        noValue: 'No expectation',
      },
      { expr: `sum(${max(EXPECTED, q.select(C.expectedTaskUp))} == bool 0)`, legend: 'Down' },
    ).thresholds(thresholds('green', [1, 'red'])),
    statusStat(
      {
        title: 'Failed polls',
        description: 'Share of failed polls, over all service codes and exporters.',
        unit: 'percentunit',
        span: 4,
        noValue: 'No polls',
      },
      { expr: errorRatio(now, []), legend: 'Failed' },
    )
      .decimals(1)
      .thresholds(thresholds('green', [0.01, 'yellow'], [0.1, 'red'])),
    ...taskProblems(q),
  ];
}

function totalPanels() {
  const size = { span: 3, noValue: NO_LISTING };
  const totals = [
    stat(
      { title: 'Users online', description: 'Users in the last listings.', unit: 'locale', ...size },
      { expr: `sum(${q.last(C.listingUsers)})`, legend: 'Users' },
    ),
    stat(
      { title: 'Tasks', description: 'Tasks in the last listings.', unit: 'locale', ...size },
      { expr: `sum(${q.last(C.listingTasks)})`, legend: 'Tasks' },
    ),
    stat(
      {
        title: 'Ingress',
        description: `Input of tasks in bits per second. ${NOW_NOTE} ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...size,
      },
      { expr: ingress(now, []), legend: 'In' },
    ),
    stat(
      {
        title: 'Egress',
        description: `HTTP live output in bits per second. ${NOW_NOTE} ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...size,
      },
      { expr: egress(now, []), legend: 'Out' },
    ),
  ].map((panel) => panel.thresholds(thresholds('blue')));
  return [...totals, ...volumes(q)];
}

function stateTimelinePanel() {
  return stateTimeline(
    {
      title: 'Service codes',
      description: 'Up while polls succeed. Each failure is visible for at least one step of this panel.',
      unit: 'none',
      span: 12,
      noValue: 'No exporter polls a service code',
    },
    // One replica without a failure is enough.
    {
      expr: max(CODE, `min_over_time(${q.select(C.up)}[$__rate_interval])`),
      legend: BY_CODE,
      wasDown: wasDown(CODE, q.select(C.up)),
    },
  ).mappings(UP_OR_DOWN);
}

function expectedPanels() {
  const noValue = NO_EXPECTATION;
  return [
    stateTimeline(
      {
        title: 'Expected streams',
        description:
          'Up while a live task of the name is listed, has received input and is not stalled. The names are in expect of the service code.',
        unit: 'none',
        span: 12,
        noValue,
      },
      {
        expr: max(EXPECTED, q.select(C.expectedTaskUp)),
        legend: `{{task_name}} ${BY_CODE}`,
        wasDown: wasDown(EXPECTED, q.select(C.expectedTaskUp)),
      },
    ).mappings(UP_OR_DOWN),
    timeSeries(
      {
        title: 'Expected tasks',
        description:
          'Live tasks that must run, and tasks that are listed, of service codes with an expectation.',
        unit: 'none',
        span: 12,
        noValue,
      },
      { expr: max(CODE, q.last(C.expectedTasks)), legend: `expected ${BY_CODE}` },
      {
        expr: `${max(CODE, q.last(C.listingTasks))} and ${max(CODE, q.last(C.expectedTasks))}`,
        legend: `listed ${BY_CODE}`,
      },
    ),
  ];
}

function errorRatios() {
  return dashedThresholds(
    timeSeries(
      {
        title: 'Failed polls by service code',
        description: 'Share of failed polls. Above the dashed line, failures are not occasional.',
        unit: 'percentunit',
        span: 12,
        noValue: 'No polls',
      },
      { expr: errorRatio(q, CODE), legend: BY_CODE },
    ).thresholds(thresholds('green', [0.1, 'red'])),
  ).axisSoftMax(0.2);
}

function flowPanels() {
  const half = { span: 12, noValue: NO_LISTING };
  const quarter = { span: 6, noValue: NO_LISTING };
  return [
    timeSeries(
      {
        title: 'Ingress',
        description: `Input of tasks in bits per second. ${CATCH_UP_NOTE}`,
        unit: 'bps',
        ...half,
      },
      { expr: ingress(q, CODE), legend: BY_CODE },
    ),
    timeSeries(
      {
        title: 'Egress',
        description: `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
        unit: 'bps',
        ...half,
      },
      { expr: egress(q, CODE), legend: BY_CODE },
    ),
    timeSeries(
      { title: 'Users online', description: 'Users in the last listing.', unit: 'locale', ...quarter },
      { expr: q.last(C.listingUsers), legend: BY_CODE },
    ),
    timeSeries(
      { title: 'Tasks', description: 'Tasks in the last listing.', unit: 'locale', ...quarter },
      { expr: q.last(C.listingTasks), legend: BY_CODE },
    ),
    ...taskProblemsOverTime(q, 'service_code', 6, NO_LISTING),
  ];
}
