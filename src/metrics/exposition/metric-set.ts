import { internLabels, type LabelSet } from '../../listing/label-values.ts';
import { NO_NUMBERS, type Column, type Family, type FamilySpec } from '../catalogue/family.ts';

/** Numbers of the exporter itself. A label set exists from its first value on, and keeps its place. */
export class MetricSet {
  /** Columns are replaced, not changed: a scrape renders only those that are new. */
  readonly #columns: Map<FamilySpec, Column>;

  /** Takes the families in the order of the exposition. */
  constructor(specs: readonly FamilySpec[]) {
    this.#columns = new Map(specs.map((spec) => [spec, NO_NUMBERS]));
  }

  /** Sets the value of a label set; `undefined` is no value. */
  set(spec: FamilySpec, value: number | undefined, ...labels: LabelSet): void {
    this.#update(spec, labels, () => value ?? Number.NaN);
  }

  add(spec: FamilySpec, amount: number, ...labels: LabelSet): void {
    this.#update(spec, labels, (before = 0) => before + amount);
  }

  #update(spec: FamilySpec, labels: LabelSet, change: (before: number | undefined) => number): void {
    const { labelSets, numbers } = this.get(spec);
    const labelSet = internLabels(labels);
    const found = labelSets.indexOf(labelSet);
    const row = found === -1 ? labelSets.length : found;
    const number = change(numbers[row]);
    if (Object.is(number, numbers[row])) return;
    this.#columns.set(spec, {
      labelSets: found === -1 ? [...labelSets, labelSet] : labelSets,
      numbers: numbers.toSpliced(row, 1, number),
    });
  }

  get(spec: FamilySpec): Column {
    return this.#columns.get(spec) ?? NO_NUMBERS;
  }

  get families(): readonly Family[] {
    return Array.from(this.#columns, ([spec, samples]) => ({ spec, samples }));
  }
}
