import type { LabelNames } from './label-names.ts';
import type { ListingSink, OutputReading, PartReading, TaskReading } from './listing-sink.ts';
import type { ModuleExports } from './module-exports.ts';
import type { ModuleMemory } from './module-memory.ts';

/* The layout of readings is that of `readings.ts` of the module, in words of 4 or 8 bytes. */

const HEAD_DOUBLES = 7;
const INPUT_DOUBLES = 2;
const OUTPUT_DOUBLES = 4;
/** Flag in the length of an id: it has escapes. */
const ESCAPED = 2 ** 31;
const LENGTH_BITS = 2 ** 30 - 1;
/** The module sorts parts up to this number. */
const MAX_SORTED = 32;

const NO_PARTS: readonly never[] = [];

/** Decodes the readings of tasks that the module has accumulated, and passes them to the sink. */
export class ReadingDecoder {
  readonly #exports: ModuleExports;
  readonly #memory: ModuleMemory;
  readonly #names: LabelNames;

  constructor(exports: ModuleExports, memory: ModuleMemory, names: LabelNames) {
    this.#exports = exports;
    this.#memory = memory;
    this.#names = names;
  }

  decodeAll(sink: Pick<ListingSink, 'addTask'>): void {
    const start = this.#exports.readings.value;
    const end = start + this.#exports.readingsUsed.value;
    for (let at = start; at < end; at += this.#memory.readWord(at)) sink.addTask(this.#decode(at));
    this.#exports.clearReadings();
  }

  #decode(at: number): TaskReading {
    const { words, doubles } = this.#memory;
    const word = at >>> 2;
    const double = at >>> 3;
    const allInputs = words[word + 10] ?? 0;
    const inputCount = words[word + 11] ?? 0;
    const outputCount = words[word + 12] ?? 0;
    const firstInput = double + HEAD_DOUBLES;
    const firstOutput = firstInput + inputCount * INPUT_DOUBLES;
    const id = firstOutput + outputCount * OUTPUT_DOUBLES;
    return {
      id: this.#decodeId(id * 8, words[word + 1] ?? 0),
      vsId: this.#names.getValue(words[word + 2] ?? 0),
      progress: toOptional(doubles[double + 2]),
      inputCount: allInputs,
      inputBytes: toOptional(doubles[double + 3]),
      inputs: this.#decodeInputs(firstInput, inputCount),
      protocol: allInputs === 1 ? this.#names.getValue(words[word + 3] ?? 0) : undefined,
      outputs: this.#decodeOutputs(firstOutput, outputCount),
      connections: doubles[double + 4] ?? 0,
    };
  }

  #decodeId(address: number, flaggedLength: number): string {
    const length = flaggedLength & LENGTH_BITS;
    return flaggedLength >= ESCAPED
      ? this.#memory.readText(address, length)
      : this.#memory.readUtf8(address, length);
  }

  #decodeInputs(first: number, count: number): readonly PartReading[] {
    if (count === 0) return NO_PARTS;
    const { doubles } = this.#memory;
    const inputs: PartReading[] = [];
    for (let index = 0, at = first; index < count; index += 1, at += INPUT_DOUBLES) {
      inputs.push({ identity: doubles[at] ?? 0, bytes: toOptional(doubles[at + 1]) });
    }
    return count > MAX_SORTED ? inputs.toSorted(comparePartReadings) : inputs;
  }

  #decodeOutputs(first: number, count: number): readonly OutputReading[] {
    if (count === 0) return NO_PARTS;
    const { words, doubles } = this.#memory;
    const outputs: OutputReading[] = [];
    for (let index = 0, at = first; index < count; index += 1, at += OUTPUT_DOUBLES) {
      outputs.push({
        identity: doubles[at] ?? 0,
        bytes: toOptional(doubles[at + 1]),
        connections: doubles[at + 2] ?? 0,
        serverFormatRow: words[2 * at + 6] ?? 0,
        renditionRow: words[2 * at + 7] ?? 0,
      });
    }
    return count > MAX_SORTED ? outputs.toSorted(comparePartReadings) : outputs;
  }
}

/** Orders parts by identity, equal identities by bytes, the largest first. */
function comparePartReadings(a: PartReading, b: PartReading): number {
  return a.identity - b.identity || (b.bytes ?? -1) - (a.bytes ?? -1);
}

/** A missing number is -1 in the module. */
function toOptional(value: number | undefined): number | undefined {
  return value === -1 ? undefined : value;
}
