import { internLabels, type LabelSet } from '../families/label-set.ts';
import { countersOf, foldedLabelIndexesOf, isClosed, type LabelGroupName } from '../listing/label-groups.ts';
import { OTHER } from '../listing/label-values.ts';
import type { Instant } from '../runtime/instant.ts';

/** A label set that has been absent for longer gives its row to a new one. */
const ABSENCE_MS = 60 * 60 * 1000;
/** Every Prometheus that scrapes once a minute sees a label set within this time. */
export const NEW_MS = 90 * 1000;
/** Searching so many label sets takes less time than building an index of them. */
const MAX_SEARCHED = 64;
const NO_LABEL_SETS: readonly LabelSet[] = [];
const NO_ROWS: readonly number[] = [];
/** Folded label sets may take this fraction of the limit in rows of their own, on top of it. */
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
  /** The label set of each row. Snapshots share the array until it changes. */
  #labelSets: LabelSet[] = [];
  #seen: Instant[] = [];
  /** When the listing was taken that brought each row, in monotonic milliseconds. */
  #newSinceMs: number[] = [];
  /** Rows of folded label sets: they are never evicted. */
  #foldedRows = 0;
  /** Finds the row of a label set while a listing is assigned that has many. */
  #index: Map<LabelSet, number> | undefined;

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

  /** Rows that are exposed at 0 in a listing, by their age. */
  listNew({ monotonicMs: nowMs }: Instant): readonly number[] {
    if (this.#newSinceMs.every((newSinceMs) => nowMs - newSinceMs >= NEW_MS)) return NO_ROWS;
    return [...this.#newSinceMs.keys()].filter((row) => nowMs - (this.#newSinceMs[row] ?? 0) < NEW_MS);
  }

  /** Gives a row to a label set of an earlier process, even beyond the limit. */
  restore(labels: LabelSet, seen: Instant): void {
    this.#addRow(internLabels(labels), seen, Number.NEGATIVE_INFINITY);
  }

  /**
   * Returns the row of each label set. `absent` has the indexes of those that only an end is counted in: the
   * listing does not make them present.
   */
  assign(
    labelSets: readonly LabelSet[],
    at: Instant,
    absent: ReadonlySet<number> = new Set(),
  ): readonly number[] {
    this.foldedCount = 0;
    const before = this.#labelSets;
    if (before.length === 0 && labelSets.length === 0) return NO_ROWS;
    this.#labelSets = [...before];
    this.#index = before.length + labelSets.length > MAX_SEARCHED ? indexRows(before) : undefined;
    const ended = new Set<LabelSet>();
    for (const [index, labels] of labelSets.entries()) {
      const row = this.#find(labels);
      if (absent.has(index)) ended.add(labels);
      else if (row !== undefined) this.#seen[row] = at;
    }
    // A group without counters exposes nothing but a 0 for a label set that is absent.
    if (countersOf(this.#group).length === 0) this.#dropAbsent(at);
    // A row in which an end is counted cannot be evicted now: this listing exposes its number.
    const listEvictable = () => this.#listAbsent(at).filter((labels) => !ended.has(labels));
    let evictable: Iterator<LabelSet, undefined> | undefined;
    const evict = (): LabelSet | undefined => (evictable ??= listEvictable().values()).next().value;
    const rows = labelSets.map(
      (labels, index) =>
        this.#find(labels) ??
        (absent.has(index) ? this.#findFolded(labels, at) : this.#assignNew(labels, at, evict)),
    );
    this.#index = undefined;
    // A copy is exactly as long as its content; a grown array keeps spare room.
    if (areEqual(before, this.#labelSets)) this.#labelSets = before;
    else {
      this.#labelSets = [...this.#labelSets];
      this.#seen = [...this.#seen];
      this.#newSinceMs = [...this.#newSinceMs];
    }
    return rows;
  }

  #find(labels: LabelSet): number | undefined {
    if (this.#index !== undefined) return this.#index.get(labels);
    const row = this.#labelSets.indexOf(labels);
    return row < 0 ? undefined : row;
  }

  #dropAbsent(at: Instant): void {
    const list = this.#listAbsent(at);
    if (list.length === 0) return;
    const absent = new Set(list);
    const isKept = (_: unknown, row: number): boolean => !absent.has(this.#labelSets[row] ?? []);
    this.#seen = this.#seen.filter(isKept);
    this.#newSinceMs = this.#newSinceMs.filter(isKept);
    this.#labelSets = this.#labelSets.filter(isKept);
    this.#index &&= indexRows(this.#labelSets);
  }

  /** Label sets that have been absent for an hour, the longest first. */
  #listAbsent({ monotonicMs: nowMs }: Instant): readonly LabelSet[] {
    if (this.#seen.every(({ monotonicMs }) => nowMs - monotonicMs <= ABSENCE_MS)) return NO_LABEL_SETS;
    const isAbsent = (row: number): boolean =>
      nowMs - this.#seenMs(row) > ABSENCE_MS && !this.#isFolded(this.#labelSets[row] ?? []);
    return [...this.#labelSets.keys()]
      .filter(isAbsent)
      .toSorted((a, b) => this.#seenMs(a) - this.#seenMs(b))
      .map((row) => this.#labelSets[row] ?? []);
  }

  #seenMs(row: number): number {
    return this.#seen[row]?.monotonicMs ?? Infinity;
  }

  /** Returns a free row, that of the first evictable label set, or the one into which the label set folds. */
  #assignNew(labels: LabelSet, at: Instant, evict: () => LabelSet | undefined): number {
    if (this.#isFolded(labels)) return this.#findFolded(labels, at);
    if (this.#labelSets.length - this.#foldedRows < this.#maxRows) return this.#addRow(labels, at);
    const evicted = evict();
    if (evicted !== undefined) return this.#replace(evicted, labels, at);
    this.foldedCount += 1;
    return this.#findFolded(labels, at);
  }

  #findFolded(labels: LabelSet, at: Instant): number {
    const foldedIndexes = foldedLabelIndexesOf(this.#group);
    const folded = internLabels(
      labels.map((label, labelIndex) => (foldedIndexes.includes(labelIndex) ? OTHER : label)),
    );
    const all = internLabels(labels.map(() => OTHER));
    const hasRoom = foldedIndexes.length > 0 && this.#foldedRows < Math.ceil(this.#maxRows * FOLDED_PART);
    const row =
      this.#find(folded) ?? (hasRoom ? this.#addRow(folded, at) : (this.#find(all) ?? this.#addRow(all, at)));
    this.#seen[row] = at;
    return row;
  }

  #addRow(labels: LabelSet, seen: Instant, newSinceMs = seen.monotonicMs): number {
    const row = this.#labelSets.push(labels) - 1;
    this.#seen.push(seen);
    this.#newSinceMs.push(newSinceMs);
    this.#index?.set(labels, row);
    if (this.#isFolded(labels)) this.#foldedRows += 1;
    return row;
  }

  #replace(evicted: LabelSet, labels: LabelSet, at: Instant): number {
    const row = this.#find(evicted) ?? 0;
    this.#index?.delete(evicted);
    this.#index?.set(labels, row);
    this.#labelSets[row] = labels;
    this.#seen[row] = at;
    this.#newSinceMs[row] = at.monotonicMs;
    return row;
  }

  /** Whether a value is literally `__other__`. */
  #isFolded(labels: LabelSet): boolean {
    return this.#maxRows < Infinity && labels.includes(OTHER);
  }
}

function indexRows(labelSets: readonly LabelSet[]): Map<LabelSet, number> {
  return new Map(labelSets.map((labels, row) => [labels, row]));
}

/** Equal label sets are one object. */
function areEqual(before: readonly LabelSet[], now: readonly LabelSet[]): boolean {
  return before.length === now.length && before.every((labels, row) => labels === now[row]);
}
