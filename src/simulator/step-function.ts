/**
 * A quantity that changes by steps and repeats: level 0 holds for `stepMs`, then level 1, and so on, round and
 * round. Its integral has a closed form, so that a byte counter needs no memory of what went before, and is
 * exact: with integer levels and milliseconds, every sum is an integer.
 */
export interface Flow {
  readonly stepMs: number;
  /** What flows per millisecond in each step. */
  readonly levels: readonly number[];
}

/** The level at an age in milliseconds. */
export function levelAt(flow: Flow, ageMs: number): number {
  return flow.levels[Math.floor(ageMs / flow.stepMs) % flow.levels.length] ?? 0;
}

/** What has flowed from age 0 up to an age in milliseconds. Never falls as the age grows. */
export function sumUntil(flow: Flow, ageMs: number): number {
  const roundMs = flow.stepMs * flow.levels.length;
  const rounds = Math.floor(ageMs / roundMs);
  let leftMs = ageMs - rounds * roundMs;
  let wholeRound = 0;
  let lastRound = 0;
  for (const level of flow.levels) {
    wholeRound += level * flow.stepMs;
    lastRound += level * Math.min(leftMs, flow.stepMs);
    leftMs = Math.max(0, leftMs - flow.stepMs);
  }
  return rounds * wholeRound + lastRound;
}
