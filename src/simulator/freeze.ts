/** An interval in which tasks receive and deliver nothing. */
export interface Freeze {
  /** Whose tasks; all service codes' if absent. */
  readonly serviceCode?: string | undefined;
  /** Which task; all tasks if absent. */
  readonly taskId?: string | undefined;
  readonly fromMs: number;
  /** `Infinity` while it lasts. */
  readonly toMs: number;
}

/** The freezes that hold for one task. */
export function freezesOf(
  freezes: readonly Freeze[],
  serviceCode: string,
  taskId: string,
): readonly Freeze[] {
  return freezes.filter(
    (freeze) => (freeze.serviceCode ?? serviceCode) === serviceCode && (freeze.taskId ?? taskId) === taskId,
  );
}

/** Milliseconds of an interval that lie within at least one freeze; the freezes are in order of `fromMs`. */
export function frozenMs(freezes: readonly Freeze[], fromMs: number, toMs: number): number {
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
