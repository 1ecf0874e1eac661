import { countersOf, familiesOf, labelGroup, type LabelGroupName } from '../listing/label-groups.ts';
import { isNamed, type LabelSet } from '../listing/label-values.ts';
import { addTo, recordOf, type Rows } from '../listing/rows.ts';
import type { Instant } from './instant.ts';
import { LabelSetLimit, type LimitedRow } from './label-set-limit.ts';
import { reuseRows } from './reuse-rows.ts';

/** The rows of one label group of one service code: those of listings in, what is exposed out. */
export class GroupRows {
  readonly limit: LabelSetLimit;
  readonly #families: readonly string[];
  /** Counters go on from listing to listing; gauges have the numbers of one. */
  readonly #counters: readonly string[];
  readonly #zeros: readonly string[];
  #published: Rows;

  constructor(group: LabelGroupName, maxLabelSets: number) {
    const { families } = labelGroup(group);
    this.limit = new LabelSetLimit(group, maxLabelSets);
    this.#families = familiesOf(group);
    this.#counters = countersOf(group);
    this.#zeros = this.#families.filter((family) => families[family]?.isKept === true);
    this.#published = { labelSets: [], columns: recordOf(this.#families, () => []) };
  }

  get published(): Rows {
    return this.#published;
  }

  /** Takes the rows of a listing; returns what is exposed. A counter whose row is evicted is forgotten. */
  commit({ labelSets, columns }: Rows, at: Instant): Rows {
    const assigned = this.limit.assign(labelSets, at);
    // Without counters, nothing but a 0 is exposed of what is absent.
    if (this.#counters.length === 0) this.limit.evictAbsent(at);
    const rows = [...this.limit];
    const lastPlaces = this.#place(rows);
    const listed = assigned.map(({ place }) => place);
    const next = recordOf(this.#families, (family) => {
      const column = this.#begin(family, rows, lastPlaces);
      for (const [index, value] of (columns[family] ?? []).entries())
        if (!Number.isNaN(value)) addTo(column, listed[index] ?? 0, value);
      return column;
    });
    this.#published = reuseRows(this.#published, {
      labelSets: rows.map(({ labels }) => labels),
      columns: next,
    });
    return this.#published;
  }

  /** The counters as they are persisted; `undefined` if there are none. */
  exportCounters(): Rows | undefined {
    const { labelSets, columns } = this.#published;
    if (this.#counters.length === 0 || labelSets.length === 0) return undefined;
    return { labelSets, columns: recordOf(this.#counters, (counter) => columns[counter] ?? []) };
  }

  /** Restores counters; their label sets count as present in the last written listing. */
  restoreCounters({ labelSets, columns }: Rows, last: Instant): void {
    const rows = labelSets.map((labels) => this.limit.restore(labels, last));
    for (const [place, row] of rows.entries()) row.place = place;
    this.#published = {
      labelSets: rows.map(({ labels }): LabelSet => labels),
      columns: recordOf(this.#families, (family) => {
        const isCounter = this.#counters.includes(family);
        return rows.map((_, place) => (isCounter ? (columns[family]?.[place] ?? 0) : Number.NaN));
      }),
    };
  }

  /** Numbers the rows; returns the numbers that they had. */
  #place(rows: readonly LimitedRow[]): readonly number[] {
    return rows.map((row, place) => {
      const last = row.place;
      row.place = place;
      return last;
    });
  }

  /** The column of a family before the numbers of a listing are added. */
  #begin(family: string, rows: readonly LimitedRow[], lastPlaces: readonly number[]): number[] {
    if (!this.#counters.includes(family)) {
      const isKept = this.#zeros.includes(family);
      return rows.map(({ labels }) => (isKept && isNamed(labels) ? 0 : Number.NaN));
    }
    const last = this.#published.columns[family];
    return lastPlaces.map((place) => last?.[place] ?? 0);
  }
}
