/** An interval in which tasks receive and deliver nothing. */
export interface Freeze {
  /** The service code of the tasks; all service codes if absent. */
  readonly serviceCode?: string | undefined;
  /** The task; all tasks if absent. */
  readonly taskId?: string | undefined;
  /** The name of the tasks; any name if absent. */
  readonly name?: string | undefined;
  readonly fromMs: number;
  /** `Infinity` while it lasts. */
  readonly toMs: number;
}

/** Selects the freezes that apply to one task. */
export function selectFreezes(
  freezes: readonly Freeze[],
  serviceCode: string,
  { id, name }: { readonly id: string; readonly name: string },
): readonly Freeze[] {
  return freezes.filter(
    (freeze) =>
      (freeze.serviceCode ?? serviceCode) === serviceCode &&
      (freeze.taskId ?? id) === id &&
      (freeze.name ?? name) === name,
  );
}

/** Measures the part of an interval that lies within a freeze. The freezes are in order of `fromMs`. */
export function measureFrozenMs(freezes: readonly Freeze[], fromMs: number, toMs: number): number {
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
