import { foldedPlacesOf, isClosed, type LabelGroupName } from '../listing/label-groups.ts';
import { internLabels, joinLabels, OTHER, type LabelSet } from '../listing/label-values.ts';
import type { Instant } from './instant.ts';

/** A label set that has been absent for longer gives its row to a new one. */
export const ABSENCE_MS = 60 * 60 * 1000;
/** Rows of folded label sets come on top of the limit: this part of it. */
const FOLDED_PART = 1 / 8;

/** A label set that has a row. */
export interface LimitedRow {
  readonly labels: LabelSet;
  /** The last listing with it. */
  seen: Instant;
  /** Its place among the rows that were last published; -1 before that. */
  place: number;
}

/**
 * The limit of the label sets of a label group of one service code and its memory: which label sets have a
 * row, and when each was last seen. A label set keeps its row while it is present and for an hour after.
 * What finds no row folds: it is added to the row in which the labels that fold are `__other__`.
 */
export class LabelSetLimit {
  /** Label sets of the last listing that folded. */
  foldedCount = 0;
  /** By key, in the order in which they got their rows. */
  readonly #rows = new Map<string, LimitedRow>();
  /** Rows of folded label sets: they are never evicted. */
  readonly #foldedRows = new Map<string, LimitedRow>();
  readonly #maxRows: number;
  readonly #foldedPlaces: readonly number[];
  /** Those of the last listing, and their rows. */
  #listed: readonly LabelSet[] = [];
  #assigned: readonly LimitedRow[] = [];

  constructor(group: LabelGroupName, maxLabelSets: number) {
    this.#maxRows = isClosed(group) ? Infinity : maxLabelSets;
    this.#foldedPlaces = foldedPlacesOf(group);
  }

  *[Symbol.iterator](): Generator<LimitedRow, void> {
    yield* this.#rows.values();
    yield* this.#foldedRows.values();
  }

  /** Gives a row to a label set of an earlier process, even beyond the limit. */
  restore(labels: LabelSet, seen: Instant): LimitedRow {
    const rows = this.#isFolded(labels) ? this.#foldedRows : this.#rows;
    return addRow(rows, internLabels(labels), seen);
  }

  /** Returns the row of each label set of a listing. */
  assign(labelSets: readonly LabelSet[], at: Instant): readonly LimitedRow[] {
    const known = labelSets.map((labels, index) =>
      labels === this.#listed[index] && this.#assigned[index]?.labels === labels
        ? this.#assigned[index]
        : this.#rows.get(joinLabels(labels)),
    );
    for (const row of known) if (row !== undefined) row.seen = at;
    const isEnough = !known.includes(undefined) || this.#rows.size + labelSets.length <= this.#maxRows;
    const evictable = isEnough ? [] : this.#listAbsent(at);
    this.foldedCount = 0;
    this.#listed = labelSets;
    this.#assigned = labelSets.map((labels, index) => known[index] ?? this.#assignNew(labels, at, evictable));
    return this.#assigned;
  }

  /** Takes away the rows of label sets that have been absent for an hour. */
  evictAbsent(at: Instant): void {
    for (const { labels } of this.#listAbsent(at)) this.#rows.delete(joinLabels(labels));
  }

  /** Label sets that have been absent for an hour, the longest first. */
  #listAbsent({ monotonicMs }: Instant): LimitedRow[] {
    return [...this.#rows.values()]
      .filter(({ seen }) => monotonicMs - seen.monotonicMs > ABSENCE_MS)
      .toSorted((a, b) => a.seen.monotonicMs - b.seen.monotonicMs);
  }

  /** Returns a free row, that of the first evictable label set, or that of what folds. */
  #assignNew(labels: LabelSet, at: Instant, evictable: LimitedRow[]): LimitedRow {
    if (this.#isFolded(labels)) return this.#findFolded(labels, at);
    if (this.#rows.size >= this.#maxRows) {
      const evicted = evictable.shift();
      if (evicted === undefined) {
        this.foldedCount += 1;
        return this.#findFolded(labels, at);
      }
      this.#rows.delete(joinLabels(evicted.labels));
    }
    return addRow(this.#rows, labels, at);
  }

  #findFolded(labels: LabelSet, at: Instant): LimitedRow {
    const folded = labels.map((label, place) => (this.#foldedPlaces.includes(place) ? OTHER : label));
    const all = labels.map(() => OTHER);
    const hasRoom =
      this.#foldedPlaces.length > 0 && this.#foldedRows.size < Math.ceil(this.#maxRows * FOLDED_PART);
    const row =
      this.#foldedRows.get(joinLabels(folded)) ??
      (hasRoom
        ? addRow(this.#foldedRows, internLabels(folded), at)
        : this.#foldedRows.get(joinLabels(all))) ??
      addRow(this.#foldedRows, internLabels(all), at);
    row.seen = at;
    return row;
  }

  /** Whether a value is literally `__other__`. */
  #isFolded(labels: LabelSet): boolean {
    return this.#maxRows < Infinity && labels.includes(OTHER);
  }
}

function addRow(rows: Map<string, LimitedRow>, labels: LabelSet, seen: Instant): LimitedRow {
  const row: LimitedRow = { labels, seen, place: -1 };
  rows.set(joinLabels(labels), row);
  return row;
}
