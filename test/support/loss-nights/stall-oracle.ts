import { HOUR, type Bounds, type History } from './history.ts';
import { isSilent, type Inputs, type TaskInput } from './task-inputs.ts';
import { Violations, type LossViolation } from './violations.ts';

/** Compares the stalled tasks of each listing with what METRICS.md says of them. */
export function checkStalls(history: History, inputs: Inputs): readonly LossViolation[] {
  const violations = new Violations('stalled', history);
  for (const [index, { second, told }] of history.listings.entries()) {
    const tasks = (inputs[index] ?? []).filter(({ isLive, hasHadInput }) => isLive && hasHadInput);
    const silent = tasks.filter((task) => isSilent(task, 1));
    const maybeSilent = tasks.filter(({ canBeSilent }) => canBeSilent);
    const isLong = ({ changedSecond }: TaskInput): boolean => second - changedSecond >= HOUR;
    const check = (name: string, number: number, { least, most }: Bounds): void => {
      if (number < least || number > most)
        violations.add('true', index, `${number} ${name}, not ${least} to ${most}`);
    };
    check('stalled', told.stalled, { least: silent.length, most: maybeSilent.length });
    check('long stalled', told.longStalled, {
      least: silent.filter((task) => task.hasGrown === false || isLong(task)).length,
      most: maybeSilent.filter((task) => task.hasGrown !== true || isLong(task)).length,
    });
  }
  return violations.found;
}
