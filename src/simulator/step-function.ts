/**
 * A periodic quantity: level 0 for `stepMs`, then level 1, and so on, then level 0 again. Its integral has a closed
 * form, so a byte counter needs no memory of the past. With integer levels and milliseconds, every sum is an integer.
 */
export interface StepFunction {
  readonly stepMs: number;
  /** The quantity per millisecond in each step. */
  readonly levels: readonly number[];
}

/** Returns the level at an age in milliseconds. */
export function evaluateAt(levelFunction: StepFunction, ageMs: number): number {
  return levelFunction.levels[Math.floor(ageMs / levelFunction.stepMs) % levelFunction.levels.length] ?? 0;
}

/** Integrates from age 0 to an age in milliseconds. Never decreases as the age grows. */
export function integrateUntil(levelFunction: StepFunction, ageMs: number): number {
  const periodMs = levelFunction.stepMs * levelFunction.levels.length;
  const periods = Math.floor(ageMs / periodMs);
  let leftMs = ageMs - periods * periodMs;
  let wholePeriod = 0;
  let lastPeriod = 0;
  for (const level of levelFunction.levels) {
    wholePeriod += level * levelFunction.stepMs;
    lastPeriod += level * Math.min(leftMs, levelFunction.stepMs);
    leftMs = Math.max(0, leftMs - levelFunction.stepMs);
  }
  return periods * wholePeriod + lastPeriod;
}
