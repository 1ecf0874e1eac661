import type { LabelNames } from './label-names.ts';
import { ROW_FAMILIES, type Row, type RowFamily } from './listing-sink.ts';
import type { ModuleExports } from './module-exports.ts';
import type { ModuleMemory } from './module-memory.ts';

/** A row is a key of 64 bits (family and three label ids) and four doubles; `rows.ts` of the module has the layout. */
const ROW_BYTES = 40;
const ID_MASK = 0xfffff;

const LABEL_COUNTS: Readonly<Record<RowFamily, number>> = {
  users: 2,
  servers: 1,
  inputs: 2,
  input_clients: 2,
  outputs: 2,
  renditions: 3,
  tags: 1,
  streams: 3,
  codecs: 2,
  bit_rates: 2,
};

/** Decodes the rows of the listing being read. */
export class RowDecoder {
  readonly #exports: ModuleExports;
  readonly #memory: ModuleMemory;
  readonly #names: LabelNames;
  /** Labels by the number of the row. */
  #labels: (readonly string[])[] = [];

  constructor(exports: ModuleExports, memory: ModuleMemory, names: LabelNames) {
    this.#exports = exports;
    this.#memory = memory;
    this.#names = names;
  }

  /** Starts a listing. */
  clear(): void {
    if (this.#labels.length > 0) this.#labels = [];
  }

  /** The labels of a row, the same object for the same row. */
  getLabels(row: number): readonly string[] {
    return (this.#labels[row] ??= this.#decodeLabels(row));
  }

  *decodeAll(): Generator<Row, void> {
    const count = this.#exports.rowCount.value;
    for (let row = 0; row < count; row += 1) {
      const first = this.#addressOf(row) / 8 + 1;
      const [a = 0, b = 0, c = 0, d = 0] = this.#memory.doubles.subarray(first, first + 4);
      yield { family: this.#decodeFamily(row), labels: this.getLabels(row), numbers: [a, b, c, d] };
    }
  }

  #addressOf(row: number): number {
    return this.#exports.rows.value + row * ROW_BYTES;
  }

  #decodeFamily(row: number): RowFamily {
    const family = ROW_FAMILIES[this.#memory.readWord(this.#addressOf(row) + 4) >>> 28];
    if (family === undefined) throw new RangeError('Expected the number of a family');
    return family;
  }

  #decodeLabels(row: number): readonly string[] {
    const low = this.#memory.readWord(this.#addressOf(row));
    const high = this.#memory.readWord(this.#addressOf(row) + 4);
    const ids = [(high >>> 8) & ID_MASK, ((high & 0xff) << 12) | (low >>> 20), low & ID_MASK];
    return ids.slice(0, LABEL_COUNTS[this.#decodeFamily(row)]).map((id) => this.#names.getValue(id));
  }
}
