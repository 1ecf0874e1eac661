import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { thresholds, UP_OR_DOWN } from './appearance.ts';
import { UIDS, type Board } from './board.ts';
import { everyExporter } from './exporters.ts';
import { dashedThresholds, stateTimeline, timeSeries } from './panels.ts';
import { perMinute, queriesOf, sum } from './queries.ts';

const q = queriesOf(['service_code']);
const BY_INSTANCE = '{{instance}}';
const NO_EXPORTER = 'No exporter';
const THIRD = { span: 8, noValue: NO_EXPORTER };
const QUARTER = { span: 6, noValue: NO_EXPORTER };

/** Whether the exporters themselves are well: here replicas are shown one by one. */
export function exporterHealth(): Board {
  return {
    uid: UIDS.exporter,
    title: 'Exporter health',
    description:
      'The exporters themselves: whether they are scraped, keep pace with their polls, and what they use.',
    filters: ['service_code'],
    span: '3h',
    sections: [
      { panels: [everyExporter(q), scrapes()] },
      { title: 'Polls', panels: polls() },
      { title: 'Process', panels: processes() },
      { title: 'What is exposed', panels: exposed() },
      { title: 'What outlives the process', panels: state() },
      { title: 'Shards', panels: shards() },
    ],
  };
}

function scrapes() {
  return stateTimeline(
    {
      title: 'Scrapes',
      description: 'Whether Prometheus could scrape the exporter.',
      unit: 'none',
      span: 24,
      height: 5,
      noValue: NO_EXPORTER,
    },
    { expr: `min_over_time(${q.selectNamed('up')}[$__rate_interval])`, legend: BY_INSTANCE },
  )
    .mappings(UP_OR_DOWN)
    .thresholds(thresholds('red', [1, 'green']));
}

function polls() {
  return [
    timeSeries(
      {
        title: 'Failed polls',
        description: 'Polls that failed, per minute, by exporter and reason.',
        unit: 'cpm',
        span: 8,
        noValue: 'No poll has failed in this time',
      },
      {
        expr: `${perMinute(sum(['instance', 'reason'], q.ownRate(C.pollErrors)))} > 0`,
        legend: '{{reason}} ({{instance}})',
      },
    ),
    timeSeries(
      {
        title: 'Polls left out',
        description:
          'Polls that were due and not made, per minute: the one before still ran, or the service asked for a pause.',
        unit: 'cpm',
        span: 8,
        noValue: 'No poll was left out in this time',
      },
      {
        expr: `${perMinute(sum(['instance', 'reason'], q.ownRate(C.pollsSkipped)))} > 0`,
        legend: '{{reason}} ({{instance}})',
      },
    ),
    dashedThresholds(
      timeSeries(
        {
          title: 'Keeping pace',
          description:
            'Polls made, of those that the interval asks for. 1 is all of them; less means that polls take too long.',
          unit: 'percentunit',
          ...THIRD,
        },
        {
          expr: `${sum(['instance', 'service_code'], q.ownRate(C.polls))} * ${maxByInstance(q.select(C.pollInterval))}`,
          legend: '{{service_code}} ({{instance}})',
        },
      ).thresholds(thresholds('red', [0.9, 'green'])),
    ).axisSoftMax(1.1),
    timeSeries(
      {
        title: 'Duration of polls (95 %)',
        description: 'From the request sent to the listing committed, or to the failure.',
        unit: 's',
        span: 12,
        noValue: NO_EXPORTER,
      },
      {
        expr: q.quantile(0.95, C.pollDuration, ['instance', 'service_code']),
        legend: '{{service_code}} ({{instance}})',
      },
    ),
    timeSeries(
      {
        title: 'Age of data',
        description: 'Time since the last poll, and since the last good one.',
        unit: 's',
        span: 12,
        noValue: NO_EXPORTER,
      },
      {
        expr: `time() - ${maxByInstance(q.select(C.lastPoll))}`,
        legend: 'poll: {{service_code}} ({{instance}})',
      },
      {
        expr: `time() - ${maxByInstance(q.select(C.lastSuccess))}`,
        legend: 'good: {{service_code}} ({{instance}})',
      },
    ),
  ];
}

function maxByInstance(expr: string): string {
  return `max by (instance, service_code) (${expr})`;
}

function processes() {
  const lines = (expr: string) => ({ expr, legend: BY_INSTANCE });
  const byInstance = (title: string, description: string, unit: string, expr: string) =>
    timeSeries({ title, description, unit, ...QUARTER }, lines(expr));
  return [
    byInstance(
      'Processor',
      'Processor time, as a share of one processor. The exporter is one thread, but for compression and the like.',
      'percentunit',
      `rate(${q.selectNamed('process_cpu_seconds_total')}[$__rate_interval])`,
    ),
    timeSeries(
      {
        title: 'Memory',
        description: 'Resident memory, and the heap of JavaScript in use.',
        unit: 'bytes',
        ...QUARTER,
      },
      { expr: q.selectNamed('process_resident_memory_bytes'), legend: `resident (${BY_INSTANCE})` },
      { expr: q.selectNamed('nodejs_heap_size_used_bytes'), legend: `heap (${BY_INSTANCE})` },
    ),
    dashedThresholds(
      byInstance(
        'Event loop lag (99 %)',
        'How late timers ran since the scrape before. Above the line, scrapes and polls suffer.',
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
        noValue: 'Known on Linux only',
      },
      lines(`${q.selectNamed('process_open_fds')} / ${q.selectNamed('process_max_fds')}`),
    ),
  ];
}

function exposed() {
  return [
    timeSeries(
      { title: 'Series', description: 'Series in the last full exposition.', unit: 'locale', ...THIRD },
      { expr: q.select(C.series), legend: BY_INSTANCE },
    ),
    timeSeries(
      { title: 'Duration of scrapes', description: 'As Prometheus measures it.', unit: 's', ...THIRD },
      { expr: q.selectNamed('scrape_duration_seconds'), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Label sets folded',
        description:
          'Label sets beyond metrics.max_label_sets, summed under __other__, by family; for tasks, those beyond metrics.max_tasks, left out.',
        unit: 'none',
        span: 8,
        noValue: 'Nothing is folded',
      },
      {
        expr: `max by (instance, service_code, family) (${q.select(C.foldedLabelSets)}) > 0`,
        legend: '{{family}} of {{service_code}} ({{instance}})',
      },
    ),
  ];
}

function state() {
  const noState = { span: 8, noValue: 'state.file is not set' };
  return [
    timeSeries(
      {
        title: 'Failed writes of the state',
        description: 'Times the state file could not be written, per minute. The one before stands.',
        unit: 'cpm',
        ...noState,
      },
      { expr: perMinute(q.ownRate(C.stateWriteErrors)), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Age of the state',
        description: 'Time since the state file was last written: what a process that is killed may lose.',
        unit: 's',
        ...noState,
      },
      { expr: `time() - ${q.select(C.stateLastSuccess)}`, legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Size of the state',
        description: 'Of the state file, as it was last written.',
        unit: 'bytes',
        ...noState,
      },
      { expr: q.select(C.stateSize), legend: BY_INSTANCE },
    ),
  ];
}

function shards() {
  return [
    timeSeries(
      {
        title: 'Service codes',
        description: 'Service codes that each exporter polls. Shards have about as many each.',
        unit: 'locale',
        span: 12,
        noValue: NO_EXPORTER,
      },
      { expr: q.select(C.serviceCodes), legend: BY_INSTANCE },
    ),
    timeSeries(
      {
        title: 'Shards that answer',
        description:
          'Different shards among these exporters, and how many there are to be. Without shards both are 1.',
        unit: 'none',
        span: 12,
        noValue: NO_EXPORTER,
      },
      { expr: `count(count_values("shard", ${q.select(C.shardIndex)}))`, legend: 'answer' },
      { expr: `max(${q.select(C.shards)})`, legend: 'are to be' },
    ),
  ];
}
