import type { LabelNames } from '../json-columns/label-names.ts';
import { type Family, type FamilyName, FamilySums } from './families.ts';
import { OTHER_ID, toKeyedLabels, type KeyedLabels } from './label-values.ts';

const FIRST_SLOTS = 64;
const SLOT_WORDS = 4;
/** More probes than random keys need in a table that is half full; a label set that needs more is folded. */
const MAX_PROBES = 128;

/** Random bits: without them, no colliding label sets can be computed. */
export type SumTableKey = readonly [first: number, second: number, third: number];

/**
 * Sums by label set: of up to three label ids, a few numbers. Beyond the limit, a new label set is added to that with
 * `__other__` instead of its first label in the order of folding, then of its second one, so sums stay exact. Each level of
 * folding may use an eighth of the limit in addition; the last one has one label set.
 */
export class SumTable<N extends number = number> {
  rows = 0;
  /** `width` numbers of each row. Growing replaces it: read it after `find`. */
  sums: Float64Array;
  /** Label sets that were folded. */
  surplus = 0;
  readonly #labels: number;
  readonly #width: number;
  /** Places of labels, in the order of folding. */
  readonly #foldOrder: readonly number[];
  readonly #maxRows: number;
  readonly #firstKey: number;
  readonly #secondKey: number;
  readonly #thirdKey: number;
  /** Number of the row plus 1, and its labels; 0 for an empty slot. */
  #slots = new Int32Array(FIRST_SLOTS * SLOT_WORDS);
  #ids: Int32Array;
  /** Of tables with one label: number of the row plus 1 by label id. */
  #rowsById = new Int32Array(FIRST_SLOTS);
  /** The row whose labels are all folded, plus 1. */
  #lastRow = 0;
  #shift = 32 - Math.log2(FIRST_SLOTS);

  constructor({ labels, numbers, foldOrder }: Family, maxRows: number, key: SumTableKey) {
    this.#labels = labels.length;
    this.#width = numbers.length;
    this.#foldOrder = foldOrder.map((label) => labels.indexOf(label));
    this.#maxRows = maxRows;
    // Odd, so that no bit of an id is lost.
    this.#firstKey = key[0] | 1;
    this.#secondKey = key[1] | 1;
    this.#thirdKey = key[2] | 1;
    this.sums = new Float64Array((FIRST_SLOTS / 2) * this.#width);
    this.#ids = new Int32Array((FIRST_SLOTS / 2) * 3);
  }

  clear(): void {
    if (this.rows === 0) return;
    this.#slots.fill(0);
    if (this.#labels === 1) this.#rowsById.fill(0);
    this.sums.fill(0, 0, this.rows * this.#width);
    this.rows = 0;
    this.surplus = 0;
    this.#lastRow = 0;
  }

  /** Adds to a number of a row. */
  addAt(row: number, number: N, amount: number): void {
    const at = row * this.#width + number;
    this.sums[at] = (this.sums[at] ?? 0) + amount;
  }

  /** Returns the number of the row for a label set, folded if need be. Unused labels are 0. */
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
    return this.#fold(a, b, c);
  }

  /** `find` for tables of one label: no hash is needed. */
  findOne(a: number): number {
    const row = this.#rowsById[a] ?? 0;
    return row > 0 ? row - 1 : this.#findNew(a);
  }

  /** Label id number `index` of a row. */
  labelAt(row: number, index: number): number {
    return this.#ids[row * 3 + index] ?? 0;
  }

  /** The sums with the names of their labels, for longer than the table has them. */
  toSums<F extends FamilyName>(family: F, names: LabelNames): FamilySums<F> {
    const labelSets: KeyedLabels[] = [];
    for (let row = 0; row < this.rows; row += 1) {
      const labels = this.#foldOrder.map((_, label) => names.getValue(this.labelAt(row, label)));
      labelSets.push(toKeyedLabels(labels));
    }
    return new FamilySums(family, labelSets, this.sums.slice(0, this.rows * this.#width));
  }

  #hash(a: number, b: number, c: number): number {
    const sum = Math.imul(a, this.#firstKey) + Math.imul(b, this.#secondKey) + Math.imul(c, this.#thirdKey);
    return Math.imul(sum ^ (sum >>> 16), 0x9e3779b1);
  }

  #addAtSlot(slot: number, a: number, b: number, c: number): number {
    const level = this.#levelOf(a, b, c);
    if (level === this.#labels) return this.#findLast();
    if (this.rows >= this.#maxRows + level * (this.#maxRows >>> 3)) return this.#fold(a, b, c);
    writeSlot(this.#slots, slot, this.rows, a, b, c);
    return this.#addRow(a, b, c);
  }

  #addRow(a: number, b: number, c: number): number {
    const row = this.rows;
    this.rows += 1;
    const at = row * 3;
    this.#ids[at] = a;
    this.#ids[at + 1] = b;
    this.#ids[at + 2] = c;
    if (this.rows * 3 === this.#ids.length) this.#grow();
    return row;
  }

  #findNew(a: number): number {
    const row = this.find(a, 0, 0);
    // Each addition to a folded label set counts.
    if (this.labelAt(row, 0) !== a) return row;
    if (a >= this.#rowsById.length) {
      const larger = new Int32Array(2 * a);
      larger.set(this.#rowsById);
      this.#rowsById = larger;
    }
    this.#rowsById[a] = row + 1;
    return row;
  }

  /** Counts the folded labels of a label set. */
  #levelOf(a: number, b: number, c: number): number {
    let level = 0;
    for (const label of this.#foldOrder) {
      if ((label === 0 ? a : label === 1 ? b : c) !== OTHER_ID) return level;
      level += 1;
    }
    return level;
  }

  /** Returns the row of a label set without the next label in the order of folding. */
  #fold(a: number, b: number, c: number): number {
    const level = this.#levelOf(a, b, c);
    if (level === 0) this.surplus += 1;
    if (level >= this.#labels - 1) return this.#findLast();
    const label = this.#foldOrder[level];
    return this.find(label === 0 ? OTHER_ID : a, label === 1 ? OTHER_ID : b, label === 2 ? OTHER_ID : c);
  }

  /** Returns the row whose labels are all folded; it needs neither a slot nor room. */
  #findLast(): number {
    if (this.#lastRow === 0) {
      const used = this.#labels;
      this.#lastRow = this.#addRow(OTHER_ID, used > 1 ? OTHER_ID : 0, used > 2 ? OTHER_ID : 0) + 1;
    }
    return this.#lastRow - 1;
  }

  #grow(): void {
    const sums = new Float64Array(this.sums.length * 2);
    sums.set(this.sums);
    this.sums = sums;
    const ids = new Int32Array(this.#ids.length * 2);
    ids.set(this.#ids);
    this.#ids = ids;
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

function writeSlot(slots: Int32Array, slot: number, row: number, a: number, b: number, c: number): void {
  slots[slot] = row + 1;
  slots[slot + 1] = a;
  slots[slot + 2] = b;
  slots[slot + 3] = c;
}
