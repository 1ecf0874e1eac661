import { internLabels, type LabelSet } from '../families/label-set.ts';
import { recordOf } from '../families/record-of.ts';
import {
  countersOf,
  familiesOf,
  LABEL_GROUPS,
  type FamilyOf,
  type LabelGroupName,
  type LabelNameOf,
} from './label-groups.ts';

/**
 * The numbers of a label group: a row for each label set, a column for each family. NaN is no number: the
 * family lacks that label set. The numbers of a listing, the tally and a snapshot have this shape.
 */
export interface Rows<Family extends string = string> {
  readonly labelSets: readonly LabelSet[];
  readonly columns: Readonly<Record<Family, readonly number[]>>;
  /** Scrapes show counters of these rows at 0: Prometheus sees no increase in the first value of a series. */
  readonly newRows?: readonly number[];
}

export type RowsOf<G extends LabelGroupName> = { readonly [Name in G]: Rows<FamilyOf<Name>> };

/** Adds an amount, which may be 0, to the number of a row. Without a number, the row gets the amount. */
export function addOrSet(column: number[], row: number, amount: number): void {
  const before = column[row] ?? 0;
  column[row] = Number.isNaN(before) ? amount : before + amount;
}

export function sumColumn(column: readonly number[]): number {
  return column.reduce((sum, value) => (Number.isNaN(value) ? sum : sum + value), 0);
}

/** The numbers of a family above 0 by their labels, joined by a space. Default: the first family. */
export function readCounts(
  { labelSets, columns }: Rows,
  family: string = Object.keys(columns)[0] ?? '',
): Readonly<Record<string, number>> {
  const numbers = columns[family] ?? [];
  const entries = labelSets.map((labels, row): [string, number] => [labels.join(' '), numbers[row] ?? 0]);
  return Object.fromEntries(entries.filter(([, number]) => number > 0));
}

export function labelIndexOf<G extends LabelGroupName>(group: G, label: LabelNameOf<G>): number {
  return Object.keys(LABEL_GROUPS[group].labels).indexOf(label);
}

/** Adds up a column by server, the first label of its group. */
export function sumByServer<Family extends string>(
  { labelSets, columns }: Rows<Family>,
  family: Family,
): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  for (const [row, labels] of labelSets.entries()) {
    const number = columns[family][row] ?? Number.NaN;
    if (Number.isNaN(number)) continue;
    const vsId = labels[0] ?? '';
    sums.set(vsId, (sums.get(vsId) ?? 0) + number);
  }
  return sums;
}

/** Rows that are found by label values. */
export class TextRows<G extends LabelGroupName> implements Rows<FamilyOf<G>> {
  readonly labelSets: LabelSet[] = [];
  readonly columns: Readonly<Record<FamilyOf<G>, number[]>>;
  readonly #families: readonly FamilyOf<G>[];
  readonly #counters: readonly FamilyOf<G>[];
  readonly #rows = new Map<LabelSet, number>();

  constructor(group: G) {
    this.#families = familiesOf(group);
    this.#counters = countersOf(group);
    this.columns = recordOf(this.#families, (): number[] => []);
  }

  /** The row of a label set. In a new one, counters are 0, and gauges are no numbers yet. */
  find(...labels: LabelSet): number {
    const labelSet = internLabels(labels);
    const found = this.#rows.get(labelSet);
    if (found !== undefined) return found;
    const row = this.labelSets.push(labelSet) - 1;
    this.#rows.set(labelSet, row);
    for (const family of this.#families)
      this.columns[family].push(this.#counters.includes(family) ? 0 : Number.NaN);
    return row;
  }

  add(row: number, family: FamilyOf<G>, amount: number): void {
    addOrSet(this.columns[family], row, amount);
  }

  /** Sets the number of each family in the row of a label set, and returns the row. */
  set(numbers: Readonly<Record<FamilyOf<G>, number>>, ...labels: LabelSet): number {
    const row = this.find(...labels);
    for (const family of this.#families) this.columns[family][row] = numbers[family];
    return row;
  }

  count(family: FamilyOf<G>, amount: number, ...labels: LabelSet): void {
    this.add(this.find(...labels), family, amount);
  }
}
