/** A value that changes at known seconds of a night; the change that was set last wins. */
export class Timeline<T> {
  readonly #initial: T;
  readonly #changes: { readonly value: T; readonly from: number; readonly to: number }[] = [];

  constructor(initial: T) {
    this.#initial = initial;
  }

  set(value: T, from: number, to = Infinity): void {
    this.#changes.push({ value, from, to });
  }

  at(second: number): T {
    const change = this.#changes.findLast(({ from, to }) => second >= from && second < to);
    return change === undefined ? this.#initial : change.value;
  }
}
