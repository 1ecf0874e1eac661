import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { YES_OR_NO } from './appearance.ts';
import { max, type Queries } from './queries.ts';
import { table } from './tables.ts';

export function exporterTable(q: Queries) {
  // Multiplying by the info metric, whose value is 1, adds its version labels. An instance can be several targets.
  const joined = (value: string): string =>
    max(
      ['job', 'instance', 'version', 'revision', 'node_version'],
      `${q.select(C.buildInfo)} * on (cluster, namespace, job, instance) group_left () ${max(['job', 'instance'], value)}`,
    );
  return table(
    {
      title: 'Exporters',
      description: 'Every scraped exporter at the end of the time range.',
      unit: 'short',
      span: 24,
      height: 6,
      noValue: 'No exporter',
    },
    {
      keys: [
        { label: 'job', title: 'Job' },
        { label: 'instance', title: 'Instance' },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
        { label: 'version', title: 'Version' },
        { label: 'revision', title: 'Revision' },
        { label: 'node_version', title: 'Node.js' },
      ],
      columns: [
        {
          title: 'Uptime',
          expr: joined(`time() - ${q.selectNamed('process_start_time_seconds')}`),
          unit: 's',
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
          unit: 's',
        },
      ],
      sortBy: ['Instance', 'ascending'],
    },
  );
}
