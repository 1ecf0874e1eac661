import type { LabelSet } from '../listing/label-values.ts';
import { recordOf, type Rows } from '../listing/rows.ts';

/**
 * Returns rows with the label sets and columns of earlier ones where they are equal: what is rendered of
 * them stays valid, and only one is kept. A column is the same object only if its label sets are, too.
 */
export function reuseRows(before: Rows | undefined, now: Rows): Rows {
  if (before === undefined || !areListsEqual(before.labelSets, now.labelSets, areLabelsEqual)) return now;
  const families = Object.keys(now.columns);
  const columns = recordOf(families, (family) => {
    const [last = [], next = []] = [before.columns[family], now.columns[family]];
    return areListsEqual(last, next, Object.is) ? last : next;
  });
  const isSame = families.every((family) => columns[family] === before.columns[family]);
  return isSame ? before : { labelSets: before.labelSets, columns };
}

function areListsEqual<Item>(
  before: readonly Item[],
  now: readonly Item[],
  areEqual: (a: Item, b: Item | undefined) => boolean,
): boolean {
  return before.length === now.length && before.every((item, at) => areEqual(item, now[at]));
}

function areLabelsEqual(a: LabelSet, b: LabelSet | undefined): boolean {
  if (a === b) return true;
  return b !== undefined && a.length === b.length && a.every((label, index) => label === b[index]);
}
