import {
  ConstantVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { EXPORTER_URL } from './links.ts';
import { DATA_SOURCE } from './panels.ts';
import { formatMatcher, SCOPE, type Filter } from './queries.ts';

/** Variables whose label only some installations have. Hidden, with All chosen, they select every series. */
const INSTALLATION_LABELS = { cluster: 'Cluster', namespace: 'Namespace' } as const;

/**
 * Jobs named as the exporter, which may be down for the whole range, and jobs with its metrics. All is their
 * list: `.+` would include `up` and `process_…` of every other target of Prometheus.
 */
const JOBS = `query_result(${['up{job=~".*xvs.*"}', CATALOGUE.buildInfo.name]
  .map((selector) => `group by (job) (last_over_time(${selector}[$__range]))`)
  .join(' or ')})`;

/**
 * Data source, `cluster` and `namespace`, `job`, `instance` and the filters of a dashboard. Each narrows the
 * following ones.
 */
export function createVariables(filters: readonly Filter[]) {
  return [
    new DatasourceVariableBuilder('datasource')
      .type('prometheus')
      .label('Data source')
      .current({ text: 'default', value: 'default' }),
    new ConstantVariableBuilder('exporter_url').label('Address of the exporter').value(EXPORTER_URL),
    ...Object.entries(INSTALLATION_LABELS).map(([name, label], index) =>
      createListVariable(name, label, listValues(CATALOGUE.buildInfo.name, SCOPE.slice(0, index), name))
        .allValue('.*')
        .hide(VariableHide.HideVariable),
    ),
    createListVariable('job', 'Job', JOBS).regex('/job="([^"]+)"/'),
    // Not those of build info, which an exporter that is down for the whole range has not.
    createListVariable('instance', 'Instance', listValues('up', SCOPE.slice(0, 3), 'instance')).allValue(
      '.+',
    ),
    ...filters.map((filter) => filterVariable(filter).allValue('.+')),
  ];
}

function filterVariable(filter: Filter): QueryVariableBuilder {
  switch (filter) {
    case 'service_code':
      // Codes that have not been polled yet have an interval, but no `xvs_up`.
      return createListVariable(
        'service_code',
        'Service code',
        listValues(CATALOGUE.pollInterval.name, SCOPE, 'service_code'),
      );
    case 'vs_id':
      return createListVariable(
        'vs_id',
        'Server',
        listValues(CATALOGUE.serverLastSeen.name, [...SCOPE, 'service_code'], 'vs_id'),
      );
    case 'task_id':
      return createListVariable(
        'task_id',
        'Task',
        listValues(CATALOGUE.taskInfo.name, [...SCOPE, 'service_code', 'vs_id'], 'task_id'),
      );
  }
}

/** The query for the values of a label of a metric, narrowed by variables. */
function listValues(metric: string, variables: readonly string[], label: string): string {
  const matchers = variables.map(formatMatcher).join(', ');
  return `label_values(${metric}${matchers === '' ? '' : `{${matchers}}`}, ${label})`;
}

function createListVariable(name: string, label: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATA_SOURCE)
    .query(query)
    .definition(query)
    .multi(true)
    .includeAll(true)
    .current({ text: ['All'], value: ['$__all'] })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.NaturalAsc);
}
