import type { LabelValues } from '../json-columns/label-values.ts';
import { MISSING_ID, OTHER_ID } from './label-values.ts';
import { RowTable, type RowTableKey } from './row-table.ts';

const NO_IDS = new Uint32Array(0);

/** The label values of picture sizes in one listing: the label id of each, by the ids of width and height. */
export class PictureSizes {
  readonly #labelValues: LabelValues;
  readonly #table: RowTable<'id'>;

  constructor(labelValues: LabelValues, maxSizes: number, key: RowTableKey) {
    this.#labelValues = labelValues;
    this.#table = new RowTable(['id'], [() => NO_IDS, () => NO_IDS], [], maxSizes, key);
  }

  clear(): void {
    this.#table.clear();
  }

  /** Returns the label id of a size; one without width or height is missing. */
  find(width: number, height: number): number {
    if (width === MISSING_ID || height === MISSING_ID) return MISSING_ID;
    const row = this.#table.find(width, height, 0);
    const known = this.#table.columns.id[row] ?? 0;
    if (known !== 0) return known;
    const id = this.#name(this.#table.labelAt(row, 0), this.#table.labelAt(row, 1));
    this.#table.columns.id[row] = id;
    return id;
  }

  #name(width: number, height: number): number {
    if (width === OTHER_ID || height === OTHER_ID) return OTHER_ID;
    return this.#labelValues.getId(
      `${this.#labelValues.getValue(width)}x${this.#labelValues.getValue(height)}`,
    );
  }
}
