import { SampleColumns, type LabelSet } from '../metrics/sample-columns.ts';

/**
 * The points of a family that were published last. What has not changed since is published as it was, down to the very
 * object: what was rendered of it still holds, and there is nothing for the garbage collector.
 */
export class SampleCache {
  #last: SampleColumns;

  constructor(serviceCode: string) {
    this.#last = new SampleColumns(serviceCode, [], []);
  }

  /** As `Points` takes them; a label set is the same object as long as it means the same. */
  update(
    labelSets: readonly LabelSet[],
    values: readonly number[],
    created?: readonly number[],
  ): SampleColumns {
    const last = this.#last;
    const next = new SampleColumns(
      last.serviceCode,
      reuseIfEqual(last.labelSets, labelSets),
      reuseIfEqual(last.values, values),
      created && reuseIfEqual(last.created ?? [], created),
    );
    const isUnchanged =
      next.labelSets === last.labelSets && next.values === last.values && next.created === last.created;
    if (!isUnchanged) this.#last = next;
    return this.#last;
  }
}

/** The list of before if it holds the same, so that it is kept once; else a copy, without the room that a list grew. */
function reuseIfEqual<Item>(before: readonly Item[], now: readonly Item[]): readonly Item[] {
  return before.length === now.length && before.every((item, at) => item === now[at]) ? before : now.slice();
}
