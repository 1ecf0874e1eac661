import { countersOf, foldedPlacesOf, isClosed, type LabelGroupName } from '../listing/label-groups.ts';
import { internLabels, OTHER, type LabelSet } from '../listing/label-values.ts';
import type { Instant } from './instant.ts';

/** A label set that has been absent for longer gives its row to a new one. */
export const ABSENCE_MS = 60 * 60 * 1000;
/** Rows of folded label sets come on top of the limit: this part of it. */
const FOLDED_PART = 1 / 8;

/**
 * The limit of the label sets of a label group of one service code and its memory: which label sets have a
 * row, and when each was last seen. A label set keeps its row while it is present and for an hour after.
 * What finds no row folds: it is added to the row in which the labels that fold are `__other__`.
 */
export class LabelSetLimit {
  /** Label sets of the last listing that folded. */
  foldedCount = 0;
  readonly #group: LabelGroupName;
  readonly #maxRows: number;
  /** In the order in which label sets got their rows. */
  #rows = new Map<LabelSet, number>();
  /** By row. */
  #labelSets: LabelSet[] = [];
  #seen: Instant[] = [];
  /** Rows of folded label sets: they are never evicted. */
  #foldedRows = 0;

  constructor(group: LabelGroupName, maxLabelSets: number) {
    this.#group = group;
    this.#maxRows = isClosed(group) ? Infinity : maxLabelSets;
  }

  get labelSets(): readonly LabelSet[] {
    return this.#labelSets;
  }

  /** The last listing with each label set. */
  *listSeen(): Generator<readonly [labels: LabelSet, seen: Instant], void> {
    for (const [row, seen] of this.#seen.entries()) yield [this.#labelSets[row] ?? [], seen];
  }

  /** Gives a row to a label set of an earlier process, even beyond the limit. */
  restore(labels: LabelSet, seen: Instant): void {
    this.#addRow(internLabels(labels), seen);
  }

  assign(labelSets: readonly LabelSet[], at: Instant): readonly number[] {
    for (const labels of labelSets) {
      const row = this.#rows.get(labels);
      if (row !== undefined) this.#seen[row] = at;
    }
    // Without counters, nothing but a 0 is exposed of what is absent.
    if (countersOf(this.#group).length === 0) this.#dropAbsent(at);
    const evictable = this.#listAbsent(at);
    this.foldedCount = 0;
    return labelSets.map((labels) => this.#rows.get(labels) ?? this.#assignNew(labels, at, evictable));
  }

  #dropAbsent(at: Instant): void {
    const absent = new Set(this.#listAbsent(at));
    if (absent.size === 0) return;
    const kept = [...this.#rows].filter(([labels]) => !absent.has(labels));
    this.#labelSets = kept.map(([labels]) => labels);
    this.#seen = kept.map(([, row]) => this.#seen[row] ?? at);
    this.#rows = new Map(this.#labelSets.map((labels, row) => [labels, row]));
  }

  /** Label sets that have been absent for an hour, the longest first: found when the first is asked for. */
  *#listAbsent({ monotonicMs }: Instant): Generator<LabelSet, void> {
    const absent: [labels: LabelSet, seenMs: number][] = [];
    for (const [labels, row] of this.#rows) {
      const seenMs = this.#seen[row]?.monotonicMs ?? monotonicMs;
      if (monotonicMs - seenMs > ABSENCE_MS && !this.#isFolded(labels)) absent.push([labels, seenMs]);
    }
    for (const [labels] of absent.toSorted(([, a], [, b]) => a - b)) yield labels;
  }

  /** Returns a free row, that of the first evictable label set, or that of what folds. */
  #assignNew(labels: LabelSet, at: Instant, evictable: Generator<LabelSet, void>): number {
    if (this.#isFolded(labels)) return this.#findFolded(labels, at);
    if (this.#rows.size - this.#foldedRows < this.#maxRows) return this.#addRow(labels, at);
    const evicted = evictable.next().value;
    if (evicted !== undefined) return this.#replace(evicted, labels, at);
    this.foldedCount += 1;
    return this.#findFolded(labels, at);
  }

  #findFolded(labels: LabelSet, at: Instant): number {
    const foldedPlaces = foldedPlacesOf(this.#group);
    const folded = internLabels(labels.map((label, place) => (foldedPlaces.includes(place) ? OTHER : label)));
    const all = internLabels(labels.map(() => OTHER));
    const hasRoom = foldedPlaces.length > 0 && this.#foldedRows < Math.ceil(this.#maxRows * FOLDED_PART);
    const row =
      this.#rows.get(folded) ??
      (hasRoom ? this.#addRow(folded, at) : (this.#rows.get(all) ?? this.#addRow(all, at)));
    this.#seen[row] = at;
    return row;
  }

  #addRow(labels: LabelSet, seen: Instant): number {
    const row = this.#labelSets.push(labels) - 1;
    this.#rows.set(labels, row);
    this.#seen.push(seen);
    if (this.#isFolded(labels)) this.#foldedRows += 1;
    return row;
  }

  #replace(evicted: LabelSet, labels: LabelSet, at: Instant): number {
    const row = this.#rows.get(evicted) ?? 0;
    this.#rows.delete(evicted);
    this.#rows.set(labels, row);
    this.#labelSets[row] = labels;
    this.#seen[row] = at;
    return row;
  }

  /** Whether a value is literally `__other__`. */
  #isFolded(labels: LabelSet): boolean {
    return this.#maxRows < Infinity && labels.includes(OTHER);
  }
}
