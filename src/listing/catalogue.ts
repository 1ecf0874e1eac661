import { define, type Definition } from '../families/family.ts';
import {
  labelGroup,
  LABEL_GROUP_NAMES,
  type FamilyOf,
  type TableCounterKey,
  type TableFamilyKey,
  type TableGaugeKey,
  type TaskGroupName,
} from './label-groups.ts';

function listTable(of: 'gauge'): Readonly<Record<TableGaugeKey, Definition>>;
function listTable(of: 'counter'): Readonly<Record<TableCounterKey, Definition>>;
function listTable(of: 'tasks'): Readonly<Record<FamilyOf<TaskGroupName>, Definition>>;
function listTable(of: 'gauge' | 'counter' | 'tasks'): Readonly<Partial<Record<TableFamilyKey, Definition>>> {
  const groups = LABEL_GROUP_NAMES.map((name) => labelGroup(name));
  return Object.fromEntries(
    groups
      .filter((group) => (group.of === 'single_task') === (of === 'tasks'))
      .flatMap(({ labels, families }) =>
        Object.entries(families)
          .filter(([, { type }]) => of === 'tasks' || type === of)
          .map(([key, { name, help }]) => [key, { name, help, labels: Object.keys(labels) }] as const),
      ),
  );
}

/** Families of listings, in the three parts of the exposition. */
export const LISTING_GAUGES = define(['service_code'], listTable('gauge'));
export const LISTING_COUNTERS = define(['service_code'], {
  ...listTable('counter'),
  taskLifetime: {
    name: 'xvs_task_lifetime_seconds',
    help: 'Whole seconds between the first and the last listing of a run of a task that has ended, if its start was seen and it read no file.',
    buckets: [15, 60, 300, 900, 3600, 10800, 21600, 43200, 86400],
  },
});
export const SINGLE_TASK_FAMILIES = define(['service_code'], listTable('tasks'));

/** Families of listings, by key. */
export const LISTING_FAMILIES = { ...LISTING_GAUGES, ...LISTING_COUNTERS, ...SINGLE_TASK_FAMILIES };
