import { recordOf } from '../runtime/record-of.ts';
import { LEDGER_COUNTERS, LEDGER_GAUGES, type LedgerCounter, type LedgerGauge } from './family-keys.ts';
import { LabelSums } from './label-sums.ts';

/** What accounts add to the sums of one listing, by family. */
export class Accumulator {
  readonly gauges: Readonly<Record<LedgerGauge, LabelSums>> = recordOf(LEDGER_GAUGES, () => new LabelSums());
  /** Increases of the counters. */
  readonly increases: Readonly<Record<LedgerCounter, LabelSums>> = recordOf(
    LEDGER_COUNTERS,
    () => new LabelSums(),
  );

  clear(): void {
    for (const sums of Object.values(this.gauges)) sums.clear();
    for (const sums of Object.values(this.increases)) sums.clear();
  }
}

/** The pool keeps at most this many free accumulators; more exist only while more listings are read at a time. */
const MAX_FREE_ACCUMULATORS = 4;

/**
 * Accumulators for reuse by all service codes, which have most label values in common. Only an accumulator of a
 * committed listing is released: a reader of a failed listing may still write to its own.
 */
export class AccumulatorPool {
  readonly #free: Accumulator[] = [];

  acquire(): Accumulator {
    return this.#free.pop() ?? new Accumulator();
  }

  release(accumulator: Accumulator): void {
    if (this.#free.length >= MAX_FREE_ACCUMULATORS) return;
    accumulator.clear();
    this.#free.push(accumulator);
  }
}
