import {
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import { DATA_SOURCE } from './panels.ts';
import type { Filter } from './queries.ts';

/** The data source to ask, `job` and `instance`, and the filters of a dashboard, each narrowed by those before it. */
export function variablesOf(filters: readonly Filter[]) {
  return [
    new DatasourceVariableBuilder('datasource').type('prometheus').label('Data source'),
    // All is the list of jobs that expose the exporter's metrics, and no `.+`: that would take in `up` and `process_…`
    // of everything else that Prometheus scrapes.
    listed('job', 'Job', `label_values(${CATALOGUE.buildInfo.name}, job)`),
    listed(
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
      // Not `xvs_up`: a code that has not been polled yet has an interval.
      return listed(
        'service_code',
        'Service code',
        `label_values(${CATALOGUE.pollInterval.name}{${scraped}}, service_code)`,
      );
    case 'vs_id':
      return listed(
        'vs_id',
        'Server',
        `label_values(${CATALOGUE.serverLastSeen.name}{${scraped}, service_code=~"$service_code"}, vs_id)`,
      );
    case 'task_id':
      return listed(
        'task_id',
        'Task',
        `label_values(${CATALOGUE.taskInfo.name}{${scraped}, service_code=~"$service_code", vs_id=~"$vs_id"}, task_id)`,
      );
  }
}

function listed(name: string, label: string, query: string): QueryVariableBuilder {
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
