import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { DATA_SOURCE } from './panels.ts';
import type { Filter } from './queries.ts';

/** Data source, `job`, `instance` and the filters of a dashboard. Each narrows the following ones. */
export function createVariables(filters: readonly Filter[]) {
  return [
    new DatasourceVariableBuilder('datasource').type('prometheus').label('Data source'),
    // All is the list of jobs with the exporter's metrics. `.+` would include `up` and `process_…` of every other target
    // of Prometheus.
    createListVariable('job', 'Job', `label_values(${CATALOGUE.buildInfo.name}, job)`),
    createListVariable(
      'instance',
      'Instance',
      `label_values(${CATALOGUE.buildInfo.name}{job=~"$job"}, instance)`,
    ).allValue('.+'),
    ...filters.map((filter) => filterVariable(filter).allValue('.+')),
  ];
}

function filterVariable(filter: Filter): QueryVariableBuilder {
  const scraped = 'job=~"$job", instance=~"$instance"';
  switch (filter) {
    case 'service_code':
      // Codes that have not been polled yet have an interval, but no `xvs_up`.
      return createListVariable(
        'service_code',
        'Service code',
        `label_values(${CATALOGUE.pollInterval.name}{${scraped}}, service_code)`,
      );
    case 'vs_id':
      return createListVariable(
        'vs_id',
        'Server',
        `label_values(${CATALOGUE.serverLastSeen.name}{${scraped}, service_code=~"$service_code"}, vs_id)`,
      );
    case 'task_id':
      return createListVariable(
        'task_id',
        'Task',
        `label_values(${CATALOGUE.taskInfo.name}{${scraped}, service_code=~"$service_code", vs_id=~"$vs_id"}, task_id)`,
      );
  }
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
