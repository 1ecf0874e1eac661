import { mixHash, toFraction, toIntegerIn } from './hash.ts';

/**
 * A periodic quantity: level 0 for `stepMs`, then level 1, and so on, then level 0 again. Its integral has a
 * closed form, so a byte counter needs no memory of the past. With integer levels and milliseconds, every sum
 * is an integer.
 */
export interface StepFunction {
  readonly stepMs: number;
  /** The quantity per millisecond in each step. */
  readonly levels: readonly number[];
}

/** Creates a function of eight steps whose level varies between two shares of its peak. */
export function createStepFunction(
  seed: number,
  peak: number,
  [lowest, highest]: readonly [number, number],
  [shortestMs, longestMs]: readonly [number, number],
): StepFunction {
  return {
    stepMs: toIntegerIn(mixHash(seed, 0), shortestMs, longestMs),
    levels: Array.from({ length: 8 }, (_, index) =>
      Math.floor(peak * (lowest + (highest - lowest) * toFraction(mixHash(seed, index + 1)))),
    ),
  };
}

/** Returns the level at an age in milliseconds. */
export function evaluateAt({ stepMs, levels }: StepFunction, ageMs: number): number {
  return levels[Math.floor(ageMs / stepMs) % levels.length] ?? 0;
}

/** Integrates from age 0 to an age in milliseconds. Never decreases as the age grows. */
export function integrateUntil({ stepMs, levels }: StepFunction, ageMs: number): number {
  const periodMs = stepMs * levels.length;
  const periods = Math.floor(ageMs / periodMs);
  let leftMs = ageMs - periods * periodMs;
  let total = 0;
  for (const level of levels) {
    total += level * (periods * stepMs + Math.min(leftMs, stepMs));
    leftMs = Math.max(0, leftMs - stepMs);
  }
  return total;
}
