import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, thresholds } from './appearance.ts';
import { statusStat } from './panels.ts';
import type { Queries } from './queries.ts';

/** The number of stalled tasks of a dashboard. */
export function stalledTasks(q: Queries) {
  return statusStat(
    {
      title: 'Stalled tasks',
      description: 'Live tasks that received input before, but none for poll.stall_after.',
      unit: 'none',
      span: 3,
      noValue: NO_LISTING,
    },
    { expr: `sum(${q.last(C.tasksStalled)})`, legend: 'Stalled' },
  ).thresholds(thresholds('green', [1, 'orange']));
}
