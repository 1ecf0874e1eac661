import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { thresholds } from './appearance.ts';
import type { DashboardSpec } from './dashboard-builder.ts';
import { UIDS } from './links.ts';
import { exporterTable, scrapes } from './exporters.ts';
import { dashedThresholds, timeSeries } from './panels.ts';
import { BY_SCOPE, OF_SCOPE, createQueries, legendOf, max, perMinute, sum } from './queries.ts';
import { responses } from './responses.ts';
import { webServer } from './web-server.ts';

const q = createQueries(['service_code']);
const BY_INSTANCE = legendOf('instance');
/** For legends of several labels. */
const OF_INSTANCE = `({{instance}}) ${OF_SCOPE}`;
const NO_EXPORTER = 'No exporter';
const THIRD = { span: 8, noValue: NO_EXPORTER };
const QUARTER = { span: 6, noValue: NO_EXPORTER };

/** Shows each replica. */
export function exporterHealth(): DashboardSpec {
  return {
    uid: UIDS.exporter,
    title: 'Exporter health',
    description: 'The exporters themselves: scrapes, polls, resources, state and shards.',
    filters: ['service_code'],
    span: '3h',
    hasCollapsedRows: true,
    sections: [
      { panels: [exporterTable(q), scrapes(q)] },
      { title: 'Polls', panels: [...polls(), ...responses(q)] },
      { title: 'Process', panels: processPanels() },
      { title: 'Exposition and limits', panels: [...expositionPanels(), ...boundPanels()] },
      { title: 'Web server', panels: webServer(q) },
      { title: 'State file', panels: statePanels() },
      { title: 'Shards', panels: shardPanels() },
    ],
  };
}

function polls() {
  return [
    timeSeries(
      {
        title: 'Failed polls',
        description: 'Failed polls per minute, by exporter and reason.',
        unit: 'suffix: polls/min',
        span: 8,
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
        span: 8,
        noValue: 'No poll was skipped in this time range',
      },
      {
        expr: `${perMinute(sum(['instance', 'reason'], q.ownRate(C.pollsSkipped)))} > 0`,
        legend: `{{reason}} ${OF_INSTANCE}`,
      },
    ),
    dashedThresholds(
      timeSeries(
        {
          title: 'Poll rate',
          description:
            'Polls divided by the number that the interval requires. Below 1, polls take too long.',
          unit: 'percentunit',
          ...THIRD,
        },
        {
          expr: `${sum(['instance', 'service_code'], q.ownRate(C.polls))} * ${maxByInstance(q.select(C.pollInterval))}`,
          legend: `{{service_code}} ${OF_INSTANCE}`,
        },
      ).thresholds(thresholds('red', [0.9, 'green'])),
    ).axisSoftMax(1.1),
    timeSeries(
      {
        title: 'Poll duration',
        description:
          'From sending the request to committing the listing, or to the failure: of the last poll, and the 95th percentile of all.',
        unit: 's',
        span: 12,
        noValue: NO_EXPORTER,
      },
      { expr: q.quantile(0.95, C.pollDuration, ['instance']), legend: `95 % ${OF_INSTANCE}` },
      {
        expr: maxByInstance(q.select(C.lastPollDuration)),
        legend: `{{service_code}} ${OF_INSTANCE}`,
      },
    ),
    timeSeries(
      {
        title: 'Age of data',
        description:
          "Time since the last poll, since the last successful one, and since the exporter's clock at the scrape.",
        unit: 's',
        span: 12,
        noValue: NO_EXPORTER,
      },
      {
        expr: `time() - ${maxByInstance(q.select(C.lastPoll))}`,
        legend: `poll: {{service_code}} ${OF_INSTANCE}`,
      },
      {
        expr: `time() - ${maxByInstance(q.select(C.lastSuccess))}`,
        legend: `good: {{service_code}} ${OF_INSTANCE}`,
      },
      { expr: `time() - ${max(['instance'], q.select(C.time))}`, legend: `clock ${OF_INSTANCE}` },
    ),
  ];
}

function maxByInstance(expr: string): string {
  return max(['instance', 'service_code'], expr);
}

function processPanels() {
  const lines = (expr: string) => ({ expr, legend: BY_INSTANCE });
  const byInstance = (title: string, description: string, unit: string, expr: string) =>
    timeSeries({ title, description, unit, ...QUARTER }, lines(expr));
  return [
    byInstance(
      'CPU',
      'CPU time as a share of one CPU. The exporter uses one thread, and others for compression and the like.',
      'percentunit',
      `rate(${q.selectNamed('process_cpu_seconds_total')}[$__rate_interval])`,
    ),
    timeSeries(
      {
        title: 'Memory',
        description: 'Resident memory, used JavaScript heap, and the limit of the container or unit.',
        unit: 'bytes',
        ...QUARTER,
      },
      { expr: q.selectNamed('process_resident_memory_bytes'), legend: `resident ${OF_INSTANCE}` },
      { expr: q.selectNamed('nodejs_heap_size_used_bytes'), legend: `heap ${OF_INSTANCE}` },
      { expr: q.select(C.memoryLimit), legend: `limit ${OF_INSTANCE}` },
    ),
    dashedThresholds(
      byInstance(
        'Event loop lag (99 %)',
        'Delay of timers since the previous scrape. Above the line, scrapes and polls are delayed.',
        's',
        q.selectNamed('nodejs_eventloop_lag_p99_seconds'),
      ).thresholds(thresholds('green', [0.5, 'red'])),
    ),
    timeSeries(
      {
        title: 'File descriptors',
        description: 'Open file descriptors, as a share of the limit.',
        unit: 'percentunit',
        span: 6,
        noValue: 'Linux only',
      },
      lines(`${q.selectNamed('process_open_fds')} / ${q.selectNamed('process_max_fds')}`),
    ),
  ];
}

function boundPanels() {
  return [
    timeSeries(
      {
        title: 'Accounts',
        description:
          'Accounts of tasks, inputs and outputs, and their limit, which is a share of the heap. Departed ones fill what is left and give way.',
        unit: 'sishort',
        span: 8,
        noValue: NO_EXPORTER,
      },
      { expr: q.select(C.accounts), legend: `{{state}} ${OF_INSTANCE}` },
      { expr: q.select(C.accountsLimit), legend: `limit ${OF_INSTANCE}` },
    ),
    timeSeries(
      {
        title: 'Log lines dropped',
        description: 'Log lines per minute that could not be written. The exporter goes on without them.',
        unit: 'suffix: lines/min',
        span: 8,
        noValue: NO_EXPORTER,
      },
      { expr: perMinute(q.ownRate(C.logLinesDropped)), legend: BY_INSTANCE },
    ),
  ];
}

function expositionPanels() {
  return [
    timeSeries(
      { title: 'Series', description: 'Series in the last full exposition.', unit: 'locale', ...QUARTER },
      { expr: q.select(C.series), legend: BY_INSTANCE },
    ),
    timeSeries(
      { title: 'Scrape duration', description: 'As measured by Prometheus.', unit: 's', ...QUARTER },
      { expr: q.selectNamed('scrape_duration_seconds'), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Label sets folded',
        description:
          'Label sets beyond metrics.max_label_sets, folded into __other__, by family; for tasks, those beyond metrics.max_tasks, not exposed.',
        unit: 'none',
        span: 6,
        noValue: 'No label set is folded',
      },
      {
        expr: `${max(['instance', 'service_code', 'family'], q.select(C.foldedLabelSets))} > 0`,
        legend: `{{family}} of {{service_code}} ${OF_INSTANCE}`,
      },
    ),
  ];
}

function statePanels() {
  const noState = { span: 12, noValue: 'state.path is not set' };
  return [
    timeSeries(
      {
        title: 'Failed and delayed writes',
        description:
          'Failed writes of the state, and listings that were published before they were written, per minute. A kill can lose the latter.',
        unit: 'suffix: writes/min',
        ...noState,
      },
      { expr: perMinute(q.ownRate(C.stateWriteErrors)), legend: `failed, ${BY_INSTANCE}` },
      { expr: perMinute(q.ownRate(C.stateDelayedPublications)), legend: `delayed, ${BY_INSTANCE}` },
    ),
    timeSeries(
      {
        title: 'Age of the state',
        description: 'Time since the last successful write.',
        unit: 's',
        ...noState,
      },
      { expr: `time() - ${q.select(C.stateLastSuccess)}`, legend: BY_INSTANCE },
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
        span: 12,
        noValue: NO_EXPORTER,
      },
      { expr: q.select(C.serviceCodes), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Running shards',
        description:
          'Distinct shard indices of these exporters, and the configured count. Both are 1 without shards.',
        unit: 'none',
        span: 12,
        noValue: NO_EXPORTER,
      },
      {
        expr: `count ${BY_SCOPE} (count_values ${BY_SCOPE} ("shard", ${q.select(C.shardIndex)}))`,
        legend: `running ${OF_SCOPE}`,
      },
      { expr: `max ${BY_SCOPE} (${q.select(C.shards)})`, legend: `configured ${OF_SCOPE}` },
    ),
  ];
}
