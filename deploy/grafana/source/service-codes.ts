import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { thresholds, UP_OR_DOWN } from './appearance.ts';
import {
  countServers,
  egress,
  errorRatio,
  HLS_NOTE,
  ingress,
  NOW_NOTE,
  sum,
  type Queries,
} from './queries.ts';
import { table } from './tables.ts';

const CODE = ['service_code'];

/** Takes queries for the end of the time range. */
export function serviceCodeTable(q: Queries) {
  const age = `time() - ${q.last(C.lastSuccess)}`;
  return table(
    {
      title: 'Service codes now',
      description: `Each service code at the end of the time range. No input: live tasks that have never received any. Expected: live tasks that must run. Click a code to open its dashboard or its page. ${NOW_NOTE} ${HLS_NOTE}`,
      unit: 'sishort',
      span: 24,
      height: 7,
      noValue: 'No exporter polls a service code',
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 330 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
      ],
      columns: [
        { title: 'State', expr: q.last(C.up), unit: 'none', mappings: UP_OR_DOWN, width: 90 },
        {
          title: 'Failed polls',
          expr: errorRatio(q, CODE),
          unit: 'percentunit',
          thresholds: thresholds('transparent', [0.01, 'yellow'], [0.1, 'red']),
        },
        { title: 'Age of data', expr: age, unit: 'dtdurations' },
        { title: 'Servers', expr: countServers(q, CODE), unit: 'none' },
        { title: 'Users', expr: q.last(C.listingUsers), unit: 'locale' },
        { title: 'Tasks', expr: q.last(C.listingTasks), unit: 'locale' },
        { title: 'Expected', expr: q.last(C.expectedTasks), unit: 'locale' },
        {
          title: 'Stalled',
          expr: sum(CODE, q.last(C.tasksStalled)),
          unit: 'none',
          thresholds: thresholds('transparent', [1, 'orange']),
        },
        {
          title: 'No input',
          expr: sum(CODE, q.last(C.tasksWithoutInput)),
          unit: 'none',
          thresholds: thresholds('transparent', [1, 'orange']),
        },
        { title: 'Ingress', expr: ingress(q, CODE), unit: 'bps' },
        { title: 'Egress', expr: egress(q, CODE), unit: 'bps' },
      ],
      sortBy: ['State', 'ascending'],
    },
  );
}
