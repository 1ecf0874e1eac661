import type { LabelNames } from '../json-columns/label-names.ts';
import type { Family } from './families.ts';
import { MISSING_ID, OTHER_ID } from './label-values.ts';
import { SumTable, type SumTableKey } from './sum-table.ts';

/** The label id of a picture size, by the ids of width and height. */
const SIZES: Family = { labels: ['width', 'height'], foldOrder: ['width', 'height'], numbers: ['id'] };

/** The label values of picture sizes in one listing. */
export class PictureSizes {
  readonly #names: LabelNames;
  readonly #ids: SumTable;

  constructor(names: LabelNames, maxSizes: number, key: SumTableKey) {
    this.#names = names;
    this.#ids = new SumTable(SIZES, maxSizes, key);
  }

  clear(): void {
    this.#ids.clear();
  }

  /** Returns the label id of a size; one without width or height is missing. */
  find(width: number, height: number): number {
    if (width === MISSING_ID || height === MISSING_ID) return MISSING_ID;
    const row = this.#ids.find(width, height, 0);
    const known = this.#ids.sums[row] ?? 0;
    if (known !== 0) return known;
    const id = this.#name(this.#ids.labelAt(row, 0), this.#ids.labelAt(row, 1));
    this.#ids.addAt(row, 0, id);
    return id;
  }

  #name(width: number, height: number): number {
    if (width === OTHER_ID || height === OTHER_ID) return OTHER_ID;
    return this.#names.getId(`${this.#names.getValue(width)}x${this.#names.getValue(height)}`);
  }
}
