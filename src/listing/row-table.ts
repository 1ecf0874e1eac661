import { internLabels, type LabelSet } from '../families/label-set.ts';
import { recordOf } from '../families/record-of.ts';
import type { LabelValues } from '../json-columns/label-values.ts';
import { OTHER_ID } from './label-values.ts';
import type { Rows } from './rows.ts';

const FIRST_SLOTS = 64;
const SLOT_WORDS = 4;
/** Label ids of a row; unused ones are 0. */
const MAX_LABELS = 3;
/** With random keys, no label set of a half-full table needs so many probes; one that does is `__other__`. */
const MAX_PROBES = 128;

/** Label ids of the entries of a batch. */
export type BatchValues = () => Uint32Array;
/** Numbers of the entries of a batch. */
export type BatchNumbers = () => Float64Array;
/** What the entries of a batch add to a family; an amount that is not above 0 adds nothing. */
export type FamilyAmounts<Family extends string = string> = readonly [
  family: Family,
  amounts: 1 | BatchNumbers,
];

/** Random bits: a service that does not know them cannot compute label sets that collide. */
export type RowTableKey = readonly [first: number, second: number, third: number];

/**
 * Rows by up to three label ids, with a number of each family. To save memory, label sets beyond `maxRows`
 * share a row.
 */
export class RowTable<Family extends string = string> {
  rows = 0;
  /** Growing replaces the columns: read them after rows are found. */
  columns: Readonly<Record<Family, Float64Array>>;
  /** The row of each entry of the batch, as {@link findAll} found them. */
  found = new Int32Array(0);
  /** Records whose label sets were not told apart. */
  surplus = 0;
  readonly #families: readonly Family[];
  readonly #labels: readonly BatchValues[];
  readonly #amounts: readonly FamilyAmounts<Family>[];
  readonly #maxRows: number;
  readonly #firstKey: number;
  readonly #secondKey: number;
  readonly #thirdKey: number;
  #a: Uint32Array = new Uint32Array(0);
  #b = this.#a;
  #c = this.#a;
  /** Label ids of labels that the group lacks. */
  #zeros = this.#a;
  /** Number of the row plus 1, and its labels; 0 for an empty slot. */
  #slots = new Int32Array(FIRST_SLOTS * SLOT_WORDS);
  #ids = new Int32Array((FIRST_SLOTS / 2) * MAX_LABELS);
  /** In tables with one label: the number of the row plus 1 by label id. */
  #rowsById = new Int32Array(FIRST_SLOTS);
  /** The row of `__other__`, plus 1. */
  #otherRow = 0;
  #shift = 32 - Math.log2(FIRST_SLOTS);

  /** `labels` return the label ids of the entries of a batch, `amounts` what they add to families. */
  constructor(
    families: readonly Family[],
    labels: readonly BatchValues[],
    amounts: readonly FamilyAmounts<Family>[],
    maxRows: number,
    key: RowTableKey,
  ) {
    this.#families = families;
    this.#labels = labels;
    this.#amounts = amounts;
    this.#maxRows = maxRows;
    // Odd, so that no bit of an id is lost.
    this.#firstKey = key[0] | 1;
    this.#secondKey = key[1] | 1;
    this.#thirdKey = key[2] | 1;
    this.columns = recordOf(families, () => new Float64Array(FIRST_SLOTS / 2));
  }

  clear(): void {
    if (this.rows === 0) return;
    this.#slots.fill(0);
    if (this.#labels.length === 1) this.#rowsById.fill(0);
    for (const family of this.#families) this.columns[family].fill(0, 0, this.rows);
    this.rows = 0;
    this.surplus = 0;
    this.#otherRow = 0;
  }

  beginBatch(entries: number): void {
    if (this.found.length < entries) {
      this.found = new Int32Array(2 * entries);
      this.#zeros = new Uint32Array(2 * entries);
    }
    const [a, b, c] = this.#labels;
    this.#a = a?.() ?? this.#zeros;
    this.#b = b?.() ?? this.#zeros;
    this.#c = c?.() ?? this.#zeros;
  }

  findAll(first: number, end: number): void {
    const { found } = this;
    const [a, b, c] = [this.#a, this.#b, this.#c];
    if (this.#labels.length === 1)
      for (let at = first; at < end; at += 1) found[at] = this.findOne(a[at] ?? 0);
    else for (let at = first; at < end; at += 1) found[at] = this.find(a[at] ?? 0, b[at] ?? 0, c[at] ?? 0);
  }

  /** Finds the rows of entries, and adds their amounts. */
  sumAll(first: number, end: number): void {
    const [[family, amounts] = [], ...others] = this.#amounts;
    // Two passes would make the reader 7 % slower on a listing of users, which are only counted.
    if (family !== undefined && amounts === 1 && others.length === 0) this.#countAll(first, end, family);
    else {
      this.findAll(first, end);
      this.addAll(first, end);
    }
  }

  /** Adds the amounts of entries to their rows, as {@link findAll} found them. */
  addAll(first: number, end: number): void {
    const { found } = this;
    for (const [family, amounts] of this.#amounts) {
      const column = this.columns[family];
      const values = amounts === 1 ? undefined : amounts();
      for (let at = first; at < end; at += 1) {
        const row = found[at] ?? 0;
        const amount = values === undefined ? 1 : (values[at] ?? 0);
        if (amount > 0) column[row] = (column[row] ?? 0) + amount;
      }
    }
  }

  #countAll(first: number, end: number, family: Family): void {
    const [a, b, c] = [this.#a, this.#b, this.#c];
    const hasOneLabel = this.#labels.length === 1;
    let { rows } = this;
    let column = this.columns[family];
    for (let at = first; at < end; at += 1) {
      const row = hasOneLabel ? this.findOne(a[at] ?? 0) : this.find(a[at] ?? 0, b[at] ?? 0, c[at] ?? 0);
      // A new row may have replaced the columns.
      if (rows !== this.rows) {
        ({ rows } = this);
        column = this.columns[family];
      }
      column[row] = (column[row] ?? 0) + 1;
    }
  }

  find(a: number, b: number, c: number): number {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let slot = (this.#hash(a, b, c) >>> this.#shift) * SLOT_WORDS;
    for (let probes = 0; probes < MAX_PROBES; probes += 1) {
      const row = slots[slot] ?? 0;
      if (row === 0) return this.#addAtSlot(slot, a, b, c);
      if (slots[slot + 1] === a && slots[slot + 2] === b && slots[slot + 3] === c) return row - 1;
      slot = (slot + SLOT_WORDS) & mask;
    }
    return this.#findOther();
  }

  /** Finds the row in a table with one label, which needs no hash. */
  findOne(a: number): number {
    const row = this.#rowsById[a] ?? 0;
    return row > 0 ? row - 1 : this.#findNew(a);
  }

  labelAt(row: number, labelIndex: number): number {
    return this.#ids[row * MAX_LABELS + labelIndex] ?? 0;
  }

  /** Copies the rows, with the values of their labels: the next listing clears the table. */
  toRows(labelValues: LabelValues): Rows<Family> {
    const labelSets: LabelSet[] = [];
    const labels = this.#labels.map(() => '');
    for (let row = 0; row < this.rows; row += 1) {
      for (let labelIndex = 0; labelIndex < labels.length; labelIndex += 1)
        labels[labelIndex] = labelValues.getValue(this.labelAt(row, labelIndex));
      labelSets.push(internLabels(labels));
    }
    // Most columns have few numbers, for which a typed array would take more memory.
    const toList = (family: Family): number[] => labelSets.map((_, row) => this.columns[family][row] ?? 0);
    return { labelSets, columns: recordOf(this.#families, toList) };
  }

  #hash(a: number, b: number, c: number): number {
    const sum = Math.imul(a, this.#firstKey) + Math.imul(b, this.#secondKey) + Math.imul(c, this.#thirdKey);
    return Math.imul(sum ^ (sum >>> 16), 0x9e3779b1);
  }

  #addAtSlot(slot: number, a: number, b: number, c: number): number {
    if (this.rows >= this.#maxRows) return this.#findOther();
    writeSlot(this.#slots, slot, this.rows, a, b, c);
    return this.#addRow(a, b, c);
  }

  #addRow(a: number, b: number, c: number): number {
    const row = this.rows;
    this.rows += 1;
    const at = row * MAX_LABELS;
    this.#ids[at] = a;
    this.#ids[at + 1] = b;
    this.#ids[at + 2] = c;
    if (this.rows * MAX_LABELS === this.#ids.length) this.#grow();
    return row;
  }

  #findNew(a: number): number {
    const row = this.find(a, 0, 0);
    // The row of `__other__` is not remembered for an id, so that each of its entries counts as surplus.
    if (this.labelAt(row, 0) !== a) return row;
    if (a >= this.#rowsById.length) this.#rowsById = grow(this.#rowsById, 2 * a);
    this.#rowsById[a] = row + 1;
    return row;
  }

  /** Returns the row of `__other__`, which is in no slot and does not count against `maxRows`. */
  #findOther(): number {
    this.surplus += 1;
    if (this.#otherRow === 0) {
      const [a = 0, b = 0, c = 0] = this.#labels.map(() => OTHER_ID);
      this.#otherRow = this.#addRow(a, b, c) + 1;
    }
    return this.#otherRow - 1;
  }

  #grow(): void {
    this.columns = recordOf(this.#families, (family) => {
      const larger = new Float64Array(2 * this.columns[family].length);
      larger.set(this.columns[family]);
      return larger;
    });
    this.#ids = grow(this.#ids, 2 * this.#ids.length);
    this.#shift -= 1;
    const slots = new Int32Array(this.#slots.length * 2);
    this.#slots = slots;
    for (let row = 0; row < this.rows; row += 1) {
      const [a, b, c] = [this.labelAt(row, 0), this.labelAt(row, 1), this.labelAt(row, 2)];
      let slot = (this.#hash(a, b, c) >>> this.#shift) * SLOT_WORDS;
      while (slots[slot] !== 0) slot = (slot + SLOT_WORDS) & (slots.length - 1);
      writeSlot(slots, slot, row, a, b, c);
    }
  }
}

function grow(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(length);
  larger.set(array);
  return larger;
}

function writeSlot(slots: Int32Array, slot: number, row: number, a: number, b: number, c: number): void {
  slots[slot] = row + 1;
  slots[slot + 1] = a;
  slots[slot + 2] = b;
  slots[slot + 3] = c;
}
