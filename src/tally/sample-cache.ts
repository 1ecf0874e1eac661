import { SampleColumns, type LabelSet } from '../metrics/catalogue/sample-columns.ts';

/** Collects the samples of one family of one service code in columns. */
export class SampleBuffer {
  readonly labelSets: LabelSet[] = [];
  readonly values: number[] = [];
  /** The totals of counters, if one differs from its value because no scrape has seen its label set yet. */
  totals: number[] | undefined;

  add(labels: LabelSet, total: number, value: number = total): void {
    if (total !== value) this.totals ??= [...this.values];
    this.labelSets.push(labels);
    this.values.push(value);
    this.totals?.push(total);
  }
}

/**
 * The samples of a family that were published last. A column that has not changed since is published again as the same
 * object: its rendered lines stay valid, and it creates no garbage.
 */
export class SampleCache {
  #last: SampleColumns;

  constructor(serviceCode: string) {
    this.#last = new SampleColumns(serviceCode, [], []);
  }

  /** Returns the samples of the new columns. */
  update({ labelSets, values, totals }: SampleBuffer): SampleColumns {
    const last = this.#last;
    const nextValues = reuseIfEqual(last.values, values);
    const next = new SampleColumns(
      last.serviceCode,
      reuseIfEqual(last.labelSets, labelSets, areLabelSetsEqual),
      nextValues,
      totals === undefined ? nextValues : reuseIfEqual(last.totals, totals),
    );
    const isUnchanged =
      next.labelSets === last.labelSets && next.values === last.values && next.totals === last.totals;
    if (!isUnchanged) this.#last = next;
    return this.#last;
  }
}

/** Returns the earlier list if it is equal, so that only one is kept; else a copy without spare capacity. */
function reuseIfEqual<Item>(
  before: readonly Item[],
  now: readonly Item[],
  isEqual: (a: Item, b: Item | undefined) => boolean = Object.is,
): readonly Item[] {
  return before.length === now.length && before.every((item, at) => isEqual(item, now[at]))
    ? before
    : now.slice();
}

function areLabelSetsEqual(a: LabelSet, b: LabelSet | undefined): boolean {
  if (a === b) return true;
  return b !== undefined && a.length === b.length && a.every((label, index) => label === b[index]);
}
