import type { LabelSum } from '../listing/families.ts';
import { toKeyedLabels, type KeyedLabels } from '../listing/label-values.ts';
import { recordOf } from '../runtime/record-of.ts';
import { LEDGER_COUNTERS, LEDGER_GAUGES } from './family-keys.ts';

/** A label set and its sum, which exists as soon as something is added, if only 0. */
export class RunningSum implements LabelSum {
  readonly key: string;
  readonly labels: readonly string[];
  value = 0;
  isListed = false;

  constructor({ key, labels }: KeyedLabels) {
    this.key = key;
    this.labels = labels;
  }

  add(amount: number): void {
    this.isListed = true;
    this.value += amount;
  }
}

/** The sums of one family in one listing: `sums.at('a server', 'flv').add(1)`. */
export class LabelSums implements Iterable<LabelSum> {
  readonly #sums = new Map<string, RunningSum>();

  /** The sum of a label set. */
  at(...labels: readonly string[]): RunningSum {
    const keyed = toKeyedLabels(labels);
    const found = this.#sums.get(keyed.key);
    if (found !== undefined) return found;
    const sum = new RunningSum(keyed);
    this.#sums.set(keyed.key, sum);
    return sum;
  }

  *[Symbol.iterator](): Generator<LabelSum, void> {
    for (const sum of this.#sums.values()) if (sum.isListed) yield sum;
  }
}

/** What accounts and findings add to the families of one listing. */
export class Accumulator {
  readonly gauges = recordOf(LEDGER_GAUGES, () => new LabelSums());
  /** Increases of the counters. */
  readonly increases = recordOf(LEDGER_COUNTERS, () => new LabelSums());
}
