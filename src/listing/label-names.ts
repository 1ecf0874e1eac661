import { OTHER, sanitizeLabelValue, UNKNOWN } from './label-values.ts';

/** Values that the module names itself, by id; `labels.ts` of the module has the same order. */
const FIXED_VALUES = [UNKNOWN, OTHER, 'video', 'audio', 'copy', 'transcode', 'other', 'tcp_upload'];

/** The label values of one instance of the module by id. Two spellings of a value share an id. */
export class LabelNames {
  readonly #values: string[] = [];
  readonly #ids = new Map<string, number>();

  constructor() {
    this.clear();
  }

  /** Forgets all ids but those of fixed values. */
  clear(): void {
    this.#values.length = 0;
    this.#ids.clear();
    for (const value of FIXED_VALUES) this.#add(value);
  }

  /** Returns the id for a text, whose value is sanitized. */
  getId(text: string): number {
    const value = sanitizeLabelValue(text);
    return this.#ids.get(value) ?? this.#add(value);
  }

  getValue(id: number): string {
    const value = this.#values[id];
    if (value === undefined) throw new RangeError(`Expected the id of a label value, found ${id}`);
    return value;
  }

  #add(value: string): number {
    const id = this.#values.push(value) - 1;
    this.#ids.set(value, id);
    return id;
  }
}
