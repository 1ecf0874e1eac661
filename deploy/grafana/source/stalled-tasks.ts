import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, thresholds } from './appearance.ts';
import { verdict } from './panels.ts';
import type { Queries } from './queries.ts';

/** How many tasks stand still, of all that a dashboard is about. */
export function stalledTasks(q: Queries) {
  return verdict(
    {
      title: 'Stalled tasks',
      description: 'Live tasks whose input flowed once and has stood still for poll.stall_after.',
      unit: 'none',
      span: 3,
      noValue: NO_LISTING,
    },
    { expr: `sum(${q.last(C.tasksStalled)})`, legend: 'Stalled' },
  ).thresholds(thresholds('green', [1, 'orange']));
}
