import {
  ConstantVariableBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableHide,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CATALOGUE } from '../../../src/metrics/catalogue/catalogue.ts';
import { EXPORTER_URL } from './links.ts';
import { DATA_SOURCE } from './panels.ts';
import { formatMatcher, SCOPE, type Filter } from './queries.ts';

/** Variables whose label only some installations have. Hidden, with All chosen, they select every series. */
const INSTALLATION_LABELS = { cluster: 'Cluster', namespace: 'Namespace' } as const;

/**
 * Data source, `cluster` and `namespace`, `job`, `instance` and the filters of a dashboard. Each narrows the following
 * ones.
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
    // All is the list of jobs with the exporter's metrics. `.+` would include `up` and `process_…` of every other target
    // of Prometheus.
    createListVariable('job', 'Job', listValues(CATALOGUE.buildInfo.name, SCOPE.slice(0, 2), 'job')),
    createListVariable(
      'instance',
      'Instance',
      listValues(CATALOGUE.buildInfo.name, SCOPE.slice(0, 3), 'instance'),
    ).allValue('.+'),
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
