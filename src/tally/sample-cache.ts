import { Points, type LabelSet } from '../metrics/points.ts';

/**
 * The points of a family that were published last. What has not changed since is published as it was, down to the very
 * object: what was rendered of it still holds, and there is nothing for the garbage collector.
 */
export class PublishedPoints {
  #last: Points;

  constructor(serviceCode: string) {
    this.#last = new Points(serviceCode, [], []);
  }

  /** As `Points` takes them; a label set is the same object as long as it means the same. */
  publish(labelSets: readonly LabelSet[], values: readonly number[], created?: readonly number[]): Points {
    const last = this.#last;
    const next = new Points(
      last.serviceCode,
      sameOr(last.labelSets, labelSets),
      sameOr(last.values, values),
      created && sameOr(last.created ?? [], created),
    );
    const isUnchanged =
      next.labelSets === last.labelSets && next.values === last.values && next.created === last.created;
    if (!isUnchanged) this.#last = next;
    return this.#last;
  }
}

/** The list of before if it holds the same, so that it is kept once; else a copy, without the room that a list grew. */
function sameOr<Item>(before: readonly Item[], now: readonly Item[]): readonly Item[] {
  return before.length === now.length && before.every((item, at) => item === now[at]) ? before : now.slice();
}
