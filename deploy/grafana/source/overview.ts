import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, thresholds, UP_OR_DOWN } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { expectedDown, expectedTable, expectedTimeline } from './expected-streams.ts';
import { selectUp } from './exporters.ts';
import { firingAlerts } from './firing-alerts.ts';
import { UIDS } from './links.ts';
import {
  dashedLimit,
  largestLines,
  stat,
  stateTimeline,
  statusStat,
  timeSeries,
  upOrDown,
} from './panels.ts';
import { failedPolls } from './polls.ts';
import {
  CATCH_UP_NOTE,
  createQueries,
  egress,
  errorRatio,
  HLS_NOTE,
  ingress,
  largest,
  legendOf,
  max,
  NOW_NOTE,
  sum,
  wasDown,
} from './queries.ts';
import { serviceCodeTable } from './service-codes.ts';
import { taskProblems } from './task-problems.ts';
import { monthVolumes, volumes } from './volume.ts';

const q = createQueries(['service_code']);
const now = createQueries(['service_code'], { window: '5m' });
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
      { title: 'Alerts', panels: firingAlerts() },
      { title: 'Expected streams', panels: [expectedTable(), expectedTimeline(q)] },
      { title: 'Service codes', panels: [stateTimelinePanel(), errorRatios(), serviceCodeTable(now)] },
      { title: 'Over time', panels: flowPanels() },
      { title: 'This month', isCollapsed: true, panels: monthVolumes(q) },
    ],
  };
}

function statusPanels() {
  const text = { unit: 'none', span: 4, noValue: 'No exporter' };
  const isDown = thresholds('green', [1, 'red']);
  return [
    statusStat(
      {
        title: 'Codes down',
        description: 'Service codes whose last poll failed at every exporter that polls them.',
        ...text,
      },
      { expr: `sum(${q.last(C.up)} == bool 0)`, legend: 'Down' },
    ).thresholds(isDown),
    statusStat(
      {
        title: 'Exporters down',
        description: 'Exporters that Prometheus cannot scrape. Their data on this dashboard is not current.',
        ...text,
      },
      { expr: `sum(${selectUp(q)} == bool 0)`, legend: 'Down' },
    ).thresholds(isDown),
    expectedDown(q),
    failedPolls(now),
    ...taskProblems(q),
  ];
}

function totalPanels() {
  const size = { span: 4, noValue: NO_LISTING };
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
      description:
        'Up while polls succeed. Each failure is visible for at least one step of this panel. Of more than 50 codes, those that failed: at most 50.',
      unit: 'none',
      span: 12,
      noValue: 'No exporter polls a service code',
    },
    // One replica without a failure is enough.
    upOrDown({
      expr: max(CODE, `min_over_time(${q.select(C.up)}[$__rate_interval])`),
      legend: BY_CODE,
      labels: CODE,
      wasDown: wasDown(CODE, q.select(C.up)),
    }),
  ).mappings(UP_OR_DOWN);
}

function errorRatios() {
  return dashedLimit(
    timeSeries(
      {
        title: 'Failed polls by service code',
        description:
          'Share of failed polls, of the twenty codes with the most. Above the dashed line, failures are not occasional.',
        unit: 'percentunit',
        span: 12,
        noValue: 'No polls',
      },
      { expr: largest(CODE, errorRatio(q, CODE)), legend: BY_CODE },
    ),
    0.1,
  ).axisSoftMax(0.2);
}

function flowPanels() {
  const panel = (title: string, description: string, unit: string, expr: string, span = 8) =>
    timeSeries({ title, description, unit, span, noValue: NO_LISTING }, ...largestLines(CODE, expr));
  return [
    panel('Ingress', `Input of tasks in bits per second. ${CATCH_UP_NOTE}`, 'bps', ingress(q, CODE), 12),
    panel(
      'Egress',
      `HTTP live output in bits per second. ${CATCH_UP_NOTE} ${HLS_NOTE}`,
      'bps',
      egress(q, CODE),
      12,
    ),
    panel('Users online', 'Users in the last listing.', 'locale', q.last(C.listingUsers)),
    panel('Tasks', 'Tasks in the last listing.', 'locale', q.last(C.listingTasks)),
    panel(
      'Stalled or without input',
      'Live tasks that have received no input for poll.stall_after.',
      'none',
      `${sum(CODE, q.last(C.tasksStalled))} + ${sum(CODE, q.last(C.tasksWithoutInput))}`,
    ),
  ];
}
