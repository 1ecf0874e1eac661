import { recordOf } from '../families/record-of.ts';
import { countersOf, familiesOf, labelGroup, type LabelGroupName } from '../listing/label-groups.ts';
import { isNamed } from '../listing/label-values.ts';
import { addOrSet, type Rows } from '../listing/rows.ts';
import type { Instant } from '../runtime/instant.ts';
import { LabelSetLimit } from './label-set-limit.ts';

/** The rows of one label group of one service code: those of listings in, what is exposed out. */
export class GroupRows {
  readonly limit: LabelSetLimit;
  readonly #group: LabelGroupName;
  #published: Rows;

  constructor(group: LabelGroupName, maxLabelSets: number) {
    this.limit = new LabelSetLimit(group, maxLabelSets);
    this.#group = group;
    this.#published = { labelSets: [], columns: recordOf(familiesOf(group), () => []) };
  }

  get published(): Rows {
    return this.#published;
  }

  /** Takes the rows of a listing. A counter whose row is evicted is forgotten. */
  commit({ labelSets, columns }: Rows, at: Instant, absentRows?: ReadonlySet<number>): void {
    const rows = this.limit.assign(labelSets, at, absentRows);
    // Most listings have nothing wrong, so many groups expose nothing.
    if (this.limit.labelSets.length === 0 && this.#published.labelSets.length === 0) return;
    const next = recordOf(familiesOf(this.#group), (family) => {
      const column = this.#begin(family);
      const values = columns[family] ?? [];
      for (let index = 0; index < values.length; index += 1) {
        const value = values[index] ?? Number.NaN;
        if (!Number.isNaN(value)) addOrSet(column, rows[index] ?? 0, value);
      }
      return column;
    });
    this.#published = { labelSets: this.limit.labelSets, columns: next, newRows: this.limit.listNew(at) };
  }

  /** The counters as they are persisted; `undefined` if there are none. */
  exportCounters(): Rows | undefined {
    const { labelSets, columns } = this.#published;
    const counters = countersOf(this.#group);
    if (counters.length === 0 || labelSets.length === 0) return undefined;
    return { labelSets, columns: recordOf(counters, (counter) => columns[counter] ?? []) };
  }

  /** Restores counters; their label sets count as present in the last written listing. */
  restoreCounters({ labelSets, columns }: Rows, last: Instant): void {
    for (const labels of labelSets) this.limit.restore(labels, last);
    this.#published = {
      labelSets: this.limit.labelSets,
      columns: recordOf(familiesOf(this.#group), (family) =>
        labelSets.map((_, row) => (this.#isCounter(family) ? (columns[family]?.[row] ?? 0) : Number.NaN)),
      ),
    };
  }

  /** The column of a family before the numbers of a listing are added. Only counters go on. */
  #begin(family: string): number[] {
    const { labelSets, columns } = this.#published;
    if (this.#isCounter(family))
      return this.limit.labelSets.map((labels, row) =>
        labels === labelSets[row] ? (columns[family]?.[row] ?? 0) : 0,
      );
    const staysAtZero = labelGroup(this.#group).families[family]?.staysAtZero === true;
    return this.limit.labelSets.map((labels) => (staysAtZero && isNamed(labels) ? 0 : Number.NaN));
  }

  #isCounter(family: string): boolean {
    return labelGroup(this.#group).families[family]?.type === 'counter';
  }
}
