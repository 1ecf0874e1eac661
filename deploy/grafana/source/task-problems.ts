import { CATALOGUE as C } from '../../../src/metrics/catalogue/catalogue.ts';
import { NO_LISTING, thresholds } from './appearance.ts';
import { TASKS_LINK } from './links.ts';
import { statusStat, timeSeries } from './panels.ts';
import { legendOf, sum, type Queries } from './queries.ts';

const PROBLEMS = [
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
] as const;

/** The numbers of stalled tasks and of tasks without input: tasks that restart while their ingest is dead become the latter. */
export function taskProblems(q: Queries) {
  return PROBLEMS.map(({ title, description, family }) =>
    statusStat(
      { title, description, unit: 'none', span: 4, noValue: NO_LISTING },
      { expr: `sum(${q.last(family)})`, legend: title },
    )
      .thresholds(thresholds('green', [1, 'orange']))
      .overrideByRegexp('/.*/', [{ id: 'links', value: [TASKS_LINK] }]),
  );
}

/** The same numbers over time. */
export function taskProblemsOverTime(q: Queries, label: string, span: number, noValue: string) {
  return PROBLEMS.map(({ title, description, family }) =>
    timeSeries(
      { title, description, unit: 'none', span, noValue },
      { expr: sum([label], q.last(family)), legend: legendOf(label) },
    ),
  );
}
