import { MINUTE, type History } from './history.ts';
import { INPUT_RATE, EXPECTED_NAME } from './service.ts';
import { isSilent, type Inputs, type TaskInput } from './task-inputs.ts';
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
    const window = listWindow(history, tasks, index);
    if (isDown) violations.add('unknown', index, `${rate} B/s of what is not up`);
    else if (wasAway(window)) violations.add('true', index, `${rate} B/s of a time in which it was not up`);
    else if (isWhole(window) && Math.abs(rate / INPUT_RATE - 1) > 0.001)
      violations.add('true', index, `${rate} B/s`);
  }
  return violations.found;
}

/** The listings of two minutes, or the last two. */
function listWindow(
  history: History,
  tasks: readonly (TaskInput | undefined)[],
  index: number,
): readonly (TaskInput | undefined)[] {
  let first = Math.max(0, index - 1);
  while (first > 0 && history.seconds(first - 1, index) <= RATE_SECONDS) first -= 1;
  return tasks.slice(first, index + 1);
}

function wasAway(window: readonly (TaskInput | undefined)[]): boolean {
  return window.some((task) => task === undefined || isSilent(task, 1));
}

/** Whether bytes have arrived between all listings of a window, and are counted. */
function isWhole(window: readonly (TaskInput | undefined)[]): boolean {
  return window.every((task) => task?.isSteady === true);
}
