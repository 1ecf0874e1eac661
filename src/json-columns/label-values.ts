/** The label values of one instance of the module by id. Two spellings of a value share an id. */
export class LabelValues {
  readonly #fixed: readonly string[];
  readonly #sanitize: (text: string) => string;
  readonly #values: string[] = [];
  readonly #ids = new Map<string, number>();

  /** `fixed` have the first ids: 0 is a missing value, 1 one beyond a limit. `sanitize` makes values. */
  constructor(fixed: readonly string[], sanitize: (text: string) => string) {
    this.#fixed = fixed;
    this.#sanitize = sanitize;
    this.clear();
  }

  clear(): void {
    this.#values.length = 0;
    this.#ids.clear();
    for (const value of this.#fixed) this.#add(value);
  }

  /** Returns the id for a text, whose value is sanitized. */
  getId(text: string): number {
    const value = this.#sanitize(text);
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
