import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { YES_OR_NO } from './appearance.ts';
import type { Queries } from './queries.ts';
import { table } from './tables.ts';

/** A row for each exporter. */
export function everyExporter(q: Queries) {
  const started = q.selectNamed('process_start_time_seconds');
  // The version stands in labels: they are kept by multiplying with the info metric, which is 1.
  const uptime = `${q.select(C.buildInfo)} * on (job, instance) group_left () (time() - ${started})`;
  const byVersion = (expr: string): string =>
    `max by (job, instance, version, revision, node_version) (${expr})`;
  const joined = (metric: string): string =>
    byVersion(`${q.select(C.buildInfo)} * on (job, instance) group_left () ${metric}`);
  return table(
    {
      title: 'Exporters',
      description: 'Every exporter that is scraped, as of the end of the time range.',
      unit: 'short',
      span: 24,
      height: 6,
      noValue: 'No exporter',
    },
    {
      keys: [
        { label: 'job', title: 'Job' },
        { label: 'instance', title: 'Instance' },
        { label: 'version', title: 'Version' },
        { label: 'revision', title: 'Revision' },
        { label: 'node_version', title: 'Node.js' },
      ],
      columns: [
        { title: 'Runs for', expr: byVersion(uptime), unit: 's' },
        { title: 'Series', expr: joined(q.select(C.series)), unit: 'locale' },
        {
          title: 'Config valid',
          expr: joined(q.select(C.configLastReloadSuccessful)),
          unit: 'none',
          mappings: YES_OR_NO,
        },
        {
          title: 'Loaded ago',
          expr: joined(`(time() - ${q.select(C.configLastReloadSuccess)})`),
          unit: 's',
        },
      ],
      sortBy: ['Instance', 'ascending'],
    },
  );
}
