import { CATALOGUE as C } from '../../../src/metrics/catalogue.ts';
import { NO_LISTING, thresholds } from './appearance.ts';
import { TASKS_LINK } from './links.ts';
import { statusStat } from './panels.ts';
import type { Queries } from './queries.ts';

/**
 * The numbers of stalled tasks and of tasks without input: tasks that restart while their ingest is dead
 * become the latter.
 */
export function taskProblems(q: Queries) {
  return [
    {
      title: 'Stalled tasks',
      description: 'Live tasks that received input before, but none for poll.stall_after.',
      family: C.tasksStalled,
    },
    {
      title: 'Without input',
      description:
        'Live tasks that have received no input since they were first seen, for poll.stall_after or longer.',
      family: C.tasksWithoutInput,
    },
  ].map(({ title, description, family }) =>
    statusStat(
      { title, description, unit: 'none', span: 4, noValue: NO_LISTING },
      { expr: `sum(${q.last(family)})`, legend: title },
    )
      .thresholds(thresholds('green', [1, 'orange']))
      .overrideByRegexp('/.*/', [{ id: 'links', value: [TASKS_LINK] }]),
  );
}
