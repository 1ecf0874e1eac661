/** The tasks that a freeze applies to: all that match the parts that are given. */
interface FreezeScope {
  readonly serviceCode?: string | undefined;
  readonly taskId?: string | undefined;
  readonly name?: string | undefined;
}

/** An interval in which tasks receive and deliver nothing. */
export interface Freeze extends FreezeScope {
  readonly fromMs: number;
  /** `Infinity` while it lasts. */
  readonly toMs: number;
}

/** Measures the part of an interval in which a task is frozen. The freezes are in order of `fromMs`. */
export function measureFrozenMs(
  freezes: readonly Freeze[],
  task: Required<FreezeScope>,
  fromMs: number,
  toMs: number,
): number {
  let total = 0;
  let coveredUntilMs = fromMs;
  for (const freeze of freezes) {
    if (!isInScope(freeze, task)) continue;
    const startMs = Math.max(freeze.fromMs, coveredUntilMs);
    const endMs = Math.min(freeze.toMs, toMs);
    if (endMs > startMs) {
      total += endMs - startMs;
      coveredUntilMs = endMs;
    }
  }
  return total;
}

function isInScope(scope: FreezeScope, task: FreezeScope): boolean {
  return (['serviceCode', 'taskId', 'name'] as const).every((key) => (scope[key] ?? task[key]) === task[key]);
}
