import {
  FAMILIES,
  findFamily,
  NUMBERS,
  type FamilyName,
  type LabelOf,
  type ListingSum,
  type SumOf,
} from './families.ts';
import { encodeLabelKey } from './label-values.ts';

/** A label set of a family, without the service code, and its sum. */
export interface LabelSum {
  readonly key: string;
  readonly labels: readonly string[];
  readonly value: number;
}

/** The sums of one family of a listing: a row for each label set. Readings of the listing refer to rows. */
export class FamilySums<F extends FamilyName> {
  readonly labelSets: readonly (readonly string[])[];
  readonly #labels: readonly string[];
  readonly #numbers: Readonly<Record<SumOf<F>, number>>;
  readonly #width: number;
  readonly #sums: Float64Array;

  constructor(family: F, labelSets: readonly (readonly string[])[], sums: Float64Array) {
    this.labelSets = labelSets;
    this.#labels = FAMILIES[family].labels;
    this.#numbers = NUMBERS[family];
    this.#width = FAMILIES[family].numbers.length;
    this.#sums = sums;
  }

  /** Adds to a number of a row. */
  add(row: number, sum: SumOf<F>, amount: number): void {
    const at = row * this.#width + this.#numbers[sum];
    this.#sums[at] = (this.#sums[at] ?? 0) + amount;
  }

  getSum(row: number, sum: SumOf<F>): number {
    return this.#sums[row * this.#width + this.#numbers[sum]] ?? 0;
  }

  getLabel(row: number, label: LabelOf<F>): string {
    const value = this.labelSets[row]?.[this.#labels.indexOf(label)];
    if (value === undefined) throw new RangeError(`Expected the number of a row, found ${row}`);
    return value;
  }

  /** One number of all label sets. */
  *listSums(sum: SumOf<F>): Generator<LabelSum, void> {
    for (const [row, labels] of this.labelSets.entries())
      yield { key: encodeLabelKey(labels), labels, value: this.getSum(row, sum) };
  }

  /** The total of one number. */
  computeTotal(sum: SumOf<F>): number {
    return this.labelSets.reduce((total, _, row) => total + this.getSum(row, sum), 0);
  }
}

/** The sums of a listing by family. */
export type Sums = { readonly [F in FamilyName]: FamilySums<F> };

/** The values of one sum by label set. */
export function listSums(sums: Sums, sum: ListingSum): Iterable<LabelSum> {
  const family = findFamily(sum);
  // Each family has its own sums.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return family === undefined ? [] : (sums[family] as FamilySums<FamilyName>).listSums(sum);
}
