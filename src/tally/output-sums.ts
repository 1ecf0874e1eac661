import type { LabelNode } from './label-sums.ts';

/** Where the bytes that the outputs of a listing gained are added, by the index of the listing's row. */
export class OutputSums {
  readonly #sums: LabelNode[] = [];

  set(row: number, sum: LabelNode): void {
    this.#sums[row] = sum;
  }

  get(row: number): LabelNode {
    const sum = this.#sums[row];
    if (sum === undefined) throw new RangeError(`Expected the index of a row of outputs, found ${row}`);
    return sum;
  }
}
