import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { thresholds, UP_OR_DOWN } from './appearance.ts';
import { linkTo, UIDS, type Board } from './board.ts';
import { dashedThresholds, stat, stateTimeline, timeSeries, verdict } from './panels.ts';
import { bits, HLS_NOTE, max, METERED, queriesOf, sum } from './queries.ts';
import { table } from './tables.ts';

const q = queriesOf(['service_code']);
const CODE = ['service_code'];
const BY_CODE = '{{service_code}}';
const NO_LISTING = 'No listing';

/** Polls that failed, of all that were made, by all replicas. */
const errorRatio = (labels: readonly string[]): string =>
  `${sum(labels, q.ownRate(C.pollErrors))} / ${sum(labels, q.ownRate(C.polls))}`;
const egress = (labels: readonly string[]): string => bits(sum(labels, q.rate(C.httpOutputBytes, METERED)));
const ingress = (labels: readonly string[]): string => bits(sum(labels, q.rate(C.inputBytes)));

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
      { title: 'Service codes', panels: [everyCode()] },
      { title: 'Over time', panels: flows() },
    ],
  };
}

function verdicts() {
  return [
    verdict(
      {
        title: 'Service codes down',
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
      { expr: errorRatio([]), legend: 'Failed' },
    )
      .decimals(1)
      .thresholds(thresholds('green', [0.01, 'yellow'], [0.1, 'red'])),
    verdict(
      {
        title: 'Stalled tasks',
        description: 'Live tasks whose input flowed once and has stood still for poll.stall_after.',
        unit: 'none',
        span: 3,
        noValue: NO_LISTING,
      },
      { expr: `sum(${q.last(C.tasksStalled)})`, legend: 'Stalled' },
    ).thresholds(thresholds('green', [1, 'orange'])),
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
      { expr: ingress([]), legend: 'In' },
    ),
    stat(
      {
        title: 'Egress',
        description: `Bits per second that HTTP live output delivers. ${HLS_NOTE}`,
        unit: 'bps',
        ...size,
      },
      { expr: egress([]), legend: 'Out' },
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
      { expr: errorRatio(CODE), legend: BY_CODE },
    ).thresholds(thresholds('green', [0.1, 'red'])),
  ).axisSoftMax(0.2);
}

function everyCode() {
  const age = `time() - ${q.last(C.lastSuccess)}`;
  return table(
    {
      title: 'Service codes now',
      description: `What each service code holds, as of the end of the time range. A click on a code leads to its dashboard. ${HLS_NOTE}`,
      unit: 'short',
      span: 24,
      height: 7,
      noValue: 'No exporter polls a service code',
    },
    {
      keys: [
        {
          label: 'service_code',
          title: 'Service code',
          link: linkTo(UIDS.serviceCode, 'This service code', 'service_code'),
        },
      ],
      columns: [
        { title: 'State', expr: q.last(C.up), unit: 'none', mappings: UP_OR_DOWN, width: 90 },
        {
          title: 'Failed polls',
          expr: errorRatio(CODE),
          unit: 'percentunit',
          thresholds: thresholds('text', [0.01, 'yellow'], [0.1, 'red']),
        },
        { title: 'Age of data', expr: age, unit: 's' },
        { title: 'Servers', expr: q.last(C.servers), unit: 'none' },
        { title: 'Users', expr: sum(CODE, q.last(C.onlineUsers)), unit: 'locale' },
        { title: 'Tasks', expr: sum(CODE, q.last(C.tasks)), unit: 'locale' },
        {
          title: 'Stalled',
          expr: sum(CODE, q.last(C.tasksStalled)),
          unit: 'none',
          thresholds: thresholds('text', [1, 'orange']),
        },
        { title: 'Ingress', expr: ingress(CODE), unit: 'bps' },
        { title: 'Egress', expr: egress(CODE), unit: 'bps' },
      ],
      sortBy: ['State', 'ascending'],
    },
  );
}

function flows() {
  const half = { span: 12, noValue: NO_LISTING };
  const third = { span: 8, noValue: NO_LISTING };
  return [
    timeSeries(
      { title: 'Ingress', description: 'Bits per second that tasks receive.', unit: 'bps', ...half },
      { expr: ingress(CODE), legend: BY_CODE },
    ),
    timeSeries(
      {
        title: 'Egress',
        description: `Bits per second that HTTP live output delivers. ${HLS_NOTE}`,
        unit: 'bps',
        ...half,
      },
      { expr: egress(CODE), legend: BY_CODE },
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
