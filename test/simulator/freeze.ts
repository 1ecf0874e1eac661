/** The tasks that a freeze applies to: all that match the parts that are given. */
interface FreezeScope {
  readonly serviceCode?: string | undefined;
  readonly taskId?: string | undefined;
  readonly name?: string | undefined;
}

/** An interval in which tasks receive and deliver nothing, or a third with `slow_ingest`. */
export interface Freeze extends FreezeScope {
  readonly fault?: 'freeze_ingest' | 'slow_ingest';
  readonly fromMs: number;
  /** `Infinity` while it lasts. */
  readonly toMs: number;
}

/** Measures how much of an interval a task loses. The freezes are in order of `fromMs`. */
export function measureFrozenMs(
  freezes: readonly Freeze[],
  task: Required<FreezeScope>,
  fromMs: number,
  toMs: number,
): number {
  const own = freezes.filter((freeze) => isInScope(freeze, task));
  const stops = own.filter(({ fault }) => fault !== 'slow_ingest');
  const stoppedMs = measureUnionMs(stops, fromMs, toMs);
  const slowMs = measureUnionMs(own, fromMs, toMs) - stoppedMs;
  return stoppedMs + Math.floor((slowMs * 2) / 3);
}

function measureUnionMs(freezes: readonly Freeze[], fromMs: number, toMs: number): number {
  let total = 0;
  let coveredUntilMs = fromMs;
  for (const freeze of freezes) {
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
