import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { UP_OR_DOWN } from './appearance.ts';
import { bits, max, type Queries } from './queries.ts';
import { table } from './tables.ts';

const EXPECTED = ['service_code', 'task_name'];

/** A row for each expected stream, with what its expectation says. Takes queries for the end of the time range. */
export function expectedTable(q: Queries) {
  return table(
    {
      title: 'Expected streams now',
      description:
        'Each name in expect at the end of the time range, and the minima of its expectation. No outputs: no task of the name is listed.',
      unit: 'sishort',
      span: 24,
      height: 6,
      noValue: 'No service code has an expectation',
    },
    {
      keys: [
        { label: 'service_code', title: 'Service code', width: 280 },
        { label: 'task_name', title: 'Stream', width: 280 },
        { label: 'cluster', title: 'Cluster' },
        { label: 'namespace', title: 'Namespace' },
      ],
      columns: [
        {
          title: 'State',
          expr: max(EXPECTED, q.select(C.expectedTaskUp)),
          unit: 'none',
          mappings: UP_OR_DOWN,
          width: 90,
        },
        { title: 'Outputs', expr: max(EXPECTED, q.last(C.expectedTaskOutputs)), unit: 'none' },
        { title: 'Minimum outputs', expr: max(EXPECTED, q.select(C.expectedTaskMinOutputs)), unit: 'none' },
        {
          title: 'Minimum input rate',
          expr: bits(max(EXPECTED, q.select(C.expectedTaskMinInputRate))),
          unit: 'bps',
        },
      ],
      sortBy: ['State', 'ascending'],
    },
  );
}
