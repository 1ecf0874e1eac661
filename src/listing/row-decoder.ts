import type { LabelNames } from './label-names.ts';
import { ROW_FAMILIES, type Row, type RowFamily } from './listing-sink.ts';
import type { ModuleExports } from './module-exports.ts';
import type { ModuleMemory } from './module-memory.ts';

/**
 * A row is a key of 64 bits (family in 4 bits, three label ids in 20 bits each) and four doubles; `rows.ts` of the module
 * has the layout.
 */
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

  constructor(exports: ModuleExports, memory: ModuleMemory, names: LabelNames) {
    this.#exports = exports;
    this.#memory = memory;
    this.#names = names;
  }

  *decodeAll(): Generator<Row, void> {
    const { words, doubles } = this.#memory;
    const end = this.#exports.rowCount.value;
    const start = this.#exports.rows.value;
    for (let index = 0; index < end; index += 1) {
      const word = (start + index * ROW_BYTES) / 4;
      const double = word / 2 + 1;
      const high = words[word + 1] ?? 0;
      yield {
        index,
        family: decodeFamily(high),
        labels: this.#decodeLabels(high, words[word] ?? 0),
        numbers: [
          doubles[double] ?? 0,
          doubles[double + 1] ?? 0,
          doubles[double + 2] ?? 0,
          doubles[double + 3] ?? 0,
        ],
      };
    }
  }

  /** Decodes the labels from the two halves of a key. */
  #decodeLabels(high: number, low: number): readonly string[] {
    const first = this.#names.getValue((high >>> 8) & ID_MASK);
    const count = LABEL_COUNTS[decodeFamily(high)];
    if (count === 1) return [first];
    const second = this.#names.getValue(((high & 0xff) << 12) | (low >>> 20));
    return count === 2 ? [first, second] : [first, second, this.#names.getValue(low & ID_MASK)];
  }
}

function decodeFamily(high: number): RowFamily {
  const family = ROW_FAMILIES[high >>> 28];
  if (family === undefined) throw new RangeError('Expected the number of a family');
  return family;
}
