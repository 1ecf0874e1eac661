import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { exporterTable, scrapes } from './exporters.ts';
import { UIDS } from './links.ts';
import { dashedLimit, timeSeries } from './panels.ts';
import {
  BY_SCOPE,
  createQueries,
  inMinutes,
  legendOf,
  max,
  min,
  OF_SCOPE,
  perMinute,
  sum,
} from './queries.ts';
import { webServer } from './web-server.ts';

const q = createQueries(['service_code']);
const BY_INSTANCE = legendOf('instance');
/** For legends of several labels. */
const OF_INSTANCE = `({{instance}}) ${OF_SCOPE}`;
const NO_EXPORTER = 'No exporter';
const QUARTER = { span: 6, noValue: NO_EXPORTER };
const THIRD = { span: 8, noValue: NO_EXPORTER };
const HALF = { span: 12, noValue: NO_EXPORTER };

/** Shows each replica. */
export function exporterHealth(): DashboardSpec {
  const sections = [
    { title: 'Polls', panels: pollPanels() },
    { title: 'Process', panels: processPanels() },
    { title: 'Exposition and limits', panels: boundPanels() },
    { title: 'Web server', panels: webServer(q) },
    { title: 'State file', panels: statePanels() },
    { title: 'Shards', panels: shardPanels() },
  ];
  return {
    uid: UIDS.exporter,
    title: 'Exporter health',
    description: 'The exporters themselves: scrapes, polls, resources, state and shards.',
    filters: ['service_code'],
    span: '3h',
    sections: [
      { panels: [exporterTable(q), scrapes(q)] },
      ...sections.map((section) => ({ ...section, isCollapsed: true })),
    ],
  };
}

function pollPanels() {
  return [
    timeSeries(
      {
        title: 'Failed polls',
        description: 'Failed polls per minute, by exporter and reason.',
        unit: 'suffix: polls/min',
        span: 6,
        noValue: 'No poll failed in this time range',
      },
      {
        expr: `${perMinute(sum(['instance', 'reason'], q.ownRate(C.pollErrors)))} > 0`,
        legend: `{{reason}} ${OF_INSTANCE}`,
      },
    ),
    timeSeries(
      {
        title: 'Skipped polls',
        description:
          'Polls per minute that were skipped, because the previous poll was still running or the service asked for a pause.',
        unit: 'suffix: polls/min',
        span: 6,
        noValue: 'No poll was skipped in this time range',
      },
      {
        expr: `${perMinute(sum(['instance', 'reason'], q.ownRate(C.pollsSkipped)))} > 0`,
        legend: `{{reason}} ${OF_INSTANCE}`,
      },
    ),
    timeSeries(
      {
        title: 'Poll duration',
        description:
          'From the start of a poll, with lookup and connection, to the commit or the failure: the 95th percentile of all polls.',
        unit: 's',
        ...QUARTER,
      },
      { expr: q.quantile(0.95, C.pollDuration, ['instance']), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Clock offset',
        description:
          'How far the clock of the exporter is ahead of the service, negative if behind: the largest and the smallest of all codes. The service rejects signatures whose time is too far off.',
        unit: 'suffix: s',
        ...QUARTER,
      },
      { expr: max(['instance'], q.select(C.clockOffset)), legend: `largest ${OF_INSTANCE}` },
      { expr: min(['instance'], q.select(C.clockOffset)), legend: `smallest ${OF_INSTANCE}` },
    ),
  ];
}

function processPanels() {
  return [
    timeSeries(
      {
        title: 'CPU',
        description:
          'CPU time as a share of one CPU. The exporter uses one thread, and others for compression and the like.',
        unit: 'percentunit',
        ...THIRD,
      },
      { expr: `rate(${q.selectNamed('process_cpu_seconds_total')}[$__rate_interval])`, legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Memory',
        description: 'Resident memory, used JavaScript heap, and the limit of the container or unit.',
        unit: 'bytes',
        ...THIRD,
      },
      { expr: q.selectNamed('process_resident_memory_bytes'), legend: `resident ${OF_INSTANCE}` },
      { expr: q.selectNamed('nodejs_heap_size_used_bytes'), legend: `heap ${OF_INSTANCE}` },
      { expr: q.select(C.memoryLimit), legend: `limit ${OF_INSTANCE}` },
    ),
    dashedLimit(
      timeSeries(
        {
          title: 'Event loop lag (99 %)',
          description:
            'Delay of timers since the previous scrape. Above the line, scrapes and polls are delayed.',
          unit: 's',
          ...THIRD,
        },
        { expr: q.selectNamed('nodejs_eventloop_lag_p99_seconds'), legend: BY_INSTANCE },
      ),
      0.5,
    ),
  ];
}

function boundPanels() {
  return [
    timeSeries(
      { title: 'Series', description: 'Series in the last full exposition.', unit: 'locale', ...THIRD },
      { expr: q.select(C.series), legend: BY_INSTANCE },
    ),
    timeSeries(
      { title: 'Scrape duration', description: 'As measured by Prometheus.', unit: 's', ...THIRD },
      { expr: q.selectNamed('scrape_duration_seconds', 'service_code=""'), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Accounts',
        description:
          'Accounts of tasks, inputs and outputs, and their limit, which is a share of the heap. Departed ones fill what is left and give way.',
        unit: 'sishort',
        ...THIRD,
      },
      { expr: q.select(C.accounts), legend: `{{state}} ${OF_INSTANCE}` },
      { expr: q.select(C.accountsLimit), legend: `limit ${OF_INSTANCE}` },
    ),
  ];
}

function statePanels() {
  const noState = { span: 8, noValue: 'without state' };
  return [
    timeSeries(
      {
        title: 'Failed writes',
        description: 'Failed writes of the state.',
        unit: 'suffix: writes/min',
        ...noState,
      },
      { expr: perMinute(q.ownRate(C.stateWriteErrors)), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Unwritten listings',
        description: 'Listings that were published before they were written. A kill can lose them.',
        unit: 'suffix: listings/min',
        ...noState,
      },
      { expr: perMinute(q.ownRate(C.stateDelayedPublications)), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Age of the state',
        description: 'Time since the last successful write.',
        unit: 'suffix: min',
        ...noState,
      },
      { expr: inMinutes(`time() - ${q.select(C.stateLastSuccess)}`), legend: BY_INSTANCE },
    ),
  ];
}

function shardPanels() {
  return [
    timeSeries(
      {
        title: 'Service codes',
        description: 'Service codes that each exporter polls. The numbers of shards are similar.',
        unit: 'locale',
        ...HALF,
      },
      { expr: q.select(C.serviceCodes), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Running shards',
        description:
          'Distinct shard indices of these exporters, and the configured count. Both are 1 without shards.',
        unit: 'none',
        ...HALF,
      },
      {
        expr: `count ${BY_SCOPE} (count_values ${BY_SCOPE} ("shard", ${q.select(C.shardIndex)}))`,
        legend: `running ${OF_SCOPE}`,
      },
      { expr: `max ${BY_SCOPE} (${q.select(C.shards)})`, legend: `configured ${OF_SCOPE}` },
    ),
  ];
}
