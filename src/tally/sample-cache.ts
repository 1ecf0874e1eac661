import { SampleColumns, type LabelSet } from '../metrics/catalogue/sample-columns.ts';

/** A sample of a family of one service code. */
export interface SampleRow {
  readonly labels: LabelSet;
  readonly value: number;
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

  /** What was published last. */
  get last(): SampleColumns {
    return this.#last;
  }

  /** Whether rows of a gauge are those that were published last, in the same order. */
  isRepeatedBy(rows: readonly SampleRow[]): boolean {
    const { labelSets, values } = this.#last;
    return (
      rows.length === values.length &&
      rows.every(({ labels, value }, at) => value === values[at] && areLabelSetsEqual(labels, labelSets[at]))
    );
  }

  /** Returns the samples in columns. */
  update(rows: readonly SampleRow[]): SampleColumns {
    const last = this.#last;
    const labelSets = rows.map(({ labels }) => labels);
    const values = rows.map(({ value }) => value);
    const next = new SampleColumns(
      last.serviceCode,
      reuseIfEqual(last.labelSets, labelSets, areLabelSetsEqual),
      reuseIfEqual(last.values, values),
    );
    if (next.labelSets !== last.labelSets || next.values !== last.values) this.#last = next;
    return this.#last;
  }
}

/** Returns the earlier list if it is equal, so that only one is kept. */
function reuseIfEqual<Item>(
  before: readonly Item[],
  now: readonly Item[],
  isEqual: (a: Item, b: Item | undefined) => boolean = Object.is,
): readonly Item[] {
  return before.length === now.length && before.every((item, at) => isEqual(item, now[at])) ? before : now;
}

function areLabelSetsEqual(a: LabelSet, b: LabelSet | undefined): boolean {
  if (a === b) return true;
  return b !== undefined && a.length === b.length && a.every((label, index) => label === b[index]);
}
