import { countersOf, familiesOf, labelGroup, type LabelGroupName } from '../listing/label-groups.ts';
import { isNamed, type LabelSet } from '../listing/label-values.ts';
import { addTo, recordOf, type Rows } from '../listing/rows.ts';
import type { Instant } from './instant.ts';
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

  /** Takes the rows of a listing; returns what is exposed. A counter whose row is evicted is forgotten. */
  commit({ labelSets, columns }: Rows, at: Instant): Rows {
    const rows = this.limit.assign(labelSets, at);
    const next = recordOf(familiesOf(this.#group), (family) => {
      const column = this.#begin(family);
      for (const [index, value] of (columns[family] ?? []).entries())
        if (!Number.isNaN(value)) addTo(column, rows[index] ?? 0, value);
      return column;
    });
    this.#published = reuseRows(this.#published, { labelSets: [...this.limit.labelSets], columns: next });
    return this.#published;
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
      labelSets: [...this.limit.labelSets],
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
    const isKept = labelGroup(this.#group).families[family]?.isKept === true;
    return this.limit.labelSets.map((labels) => (isKept && isNamed(labels) ? 0 : Number.NaN));
  }

  #isCounter(family: string): boolean {
    return labelGroup(this.#group).families[family]?.type === 'counter';
  }
}

/**
 * Returns rows with the label sets and columns of earlier ones where they are equal: what is rendered of
 * them stays valid, and only one is kept. A column is the same object only if its label sets are, too.
 */
export function reuseRows(before: Rows | undefined, now: Rows): Rows {
  if (before === undefined || !areEqual(before.labelSets, now.labelSets)) return now;
  const families = Object.keys(now.columns);
  const columns = recordOf(families, (family) => {
    const [last = [], next = []] = [before.columns[family], now.columns[family]];
    return areEqual(last, next) ? last : next;
  });
  const isSame = families.every((family) => columns[family] === before.columns[family]);
  return isSame ? before : { labelSets: before.labelSets, columns };
}

/** Equal label sets are one object. */
function areEqual(before: readonly (LabelSet | number)[], now: readonly (LabelSet | number)[]): boolean {
  return before.length === now.length && before.every((item, at) => Object.is(item, now[at]));
}
