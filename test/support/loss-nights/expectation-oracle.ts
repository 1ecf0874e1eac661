import { MINUTE, type History } from './history.ts';
import { EXPECTED_NAME } from './service.ts';
import { isSilent, type Inputs } from './task-inputs.ts';
import { Violations, type LossViolation } from './violations.ts';

/** The rate is the mean of the listings within two minutes. */
const RATE_SECONDS = 2 * MINUTE;

/** Compares what is said of the expected stream of each listing with what METRICS.md says of it. */
export function checkExpectation(history: History, inputs: Inputs): readonly LossViolation[] {
  const violations = new Violations('expected', history);
  const tasks = inputs.map((all) => all.find(({ task }) => task.name === EXPECTED_NAME));
  for (const [index, { told }] of history.listings.entries()) {
    const { isUp, rate } = told.expected;
    const task = tasks[index];
    const isDown = task === undefined || !task.hasHadInput || isSilent(task, 1);
    if (isDown && isUp) violations.add('over', index, 'up');
    if (task?.hasChanged === true && !isUp) violations.add('calm', index, 'down');
    if (rate === undefined) continue;
    const first = findFirst(history, index);
    const window = tasks.slice(first, index + 1);
    const bytes = (task?.task.inputBytes ?? 0) - (tasks[first]?.task.inputBytes ?? 0);
    const mean = bytes / history.seconds(first, index);
    const wasAway = window.some((one) => one === undefined || isSilent(one, 1));
    if (isDown) violations.add('unknown', index, `${rate} B/s of what is not up`);
    else if (wasAway) violations.add('true', index, `${rate} B/s of a time in which it was not up`);
    else if (window.every((one) => one?.isSteady === true) && Math.abs(rate - mean) > 1)
      violations.add('true', index, `${rate}, not ${mean} B/s`);
  }
  return violations.found;
}

/** The first listing of the last two minutes, or the one before. */
function findFirst(history: History, index: number): number {
  let first = Math.max(0, index - 1);
  while (first > 0 && history.seconds(first - 1, index) <= RATE_SECONDS) first -= 1;
  return first;
}
