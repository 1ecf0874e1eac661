import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { UP_OR_DOWN, YES_OR_NO } from './appearance.ts';
import { stateTimeline, upOrDown } from './panels.ts';
import { legendOf, max, wasDown, type Queries } from './queries.ts';
import { table } from './tables.ts';

/** Whether exporters answer; not the targets of single service codes. */
export function selectUp(q: Queries): string {
  return q.selectNamed('up', 'service_code=""');
}

export function exporterTable(q: Queries) {
  // Multiplying by the info metric, whose value is 1, adds its version labels. An instance can be several
  // targets.
  const joined = (value: string): string =>
    max(
      ['job', 'instance', 'version', 'revision', 'node_version'],
      `${q.select(C.buildInfo)} * on (cluster, namespace, job, instance) group_left () ${max(['job', 'instance'], value)}`,
    );
  const up = selectUp(q);
  return table(
    {
      title: 'Exporters',
      description:
        'Every exporter that was scraped in the time range, at its end. One that stopped, or is no target any more, is down.',
      unit: 'sishort',
      span: 24,
      height: 6,
      noValue: 'No exporter',
    },
    {
      keys: [
        { label: 'job', title: 'Job', width: 130 },
        { label: 'instance', title: 'Instance', width: 200 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
        { label: 'version', title: 'Version' },
        { label: 'revision', title: 'Revision' },
        { label: 'node_version', title: 'Node.js' },
      ],
      columns: [
        {
          title: 'State',
          expr: `${max(['job', 'instance'], up)} or 0 * ${max(['job', 'instance'], `last_over_time(${up}[$__range])`)}`,
          unit: 'none',
          mappings: UP_OR_DOWN,
          width: 90,
        },
        {
          title: 'Uptime',
          expr: joined(`time() - ${q.selectNamed('process_start_time_seconds')}`),
          unit: 'dtdurations',
        },
        { title: 'Series', expr: joined(q.select(C.series)), unit: 'locale' },
        {
          title: 'Config valid',
          expr: joined(q.select(C.configLastReloadSuccessful)),
          unit: 'none',
          mappings: YES_OR_NO,
        },
        {
          title: 'Code files valid',
          expr: joined(`min without (file) (${q.select(C.codeFileValid)})`),
          unit: 'none',
          mappings: YES_OR_NO,
        },
        {
          title: 'Config age',
          expr: joined(`time() - ${q.select(C.configLastReloadSuccess)}`),
          unit: 'dtdurations',
        },
      ],
      sortBy: ['State', 'ascending'],
    },
  );
}

/** Whether each exporter answers its scrapes, over time. */
export function scrapes(q: Queries) {
  const up = selectUp(q);
  return stateTimeline(
    {
      title: 'Scrapes',
      description:
        'Whether Prometheus can scrape the exporter. Of more than 50 exporters, those that were down: at most 50.',
      unit: 'none',
      span: 24,
      height: 5,
      noValue: 'No exporter',
    },
    upOrDown({
      expr: max(['instance'], `min_over_time(${up}[$__rate_interval])`),
      legend: legendOf('instance'),
      labels: ['instance'],
      wasDown: wasDown(['instance'], up),
    }),
  ).mappings(UP_OR_DOWN);
}
