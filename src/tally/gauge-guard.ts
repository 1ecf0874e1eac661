import { labelKey, type LabelSum, type LabelSums } from './label-sums.ts';
import { OTHER } from './label-values.ts';

/** How long a label set that left keeps its place, so that strangers do not take turns in it. */
const PLACE_KEPT_MS = 60 * 60 * 1000;
/** A newcomer takes a place only with more than so many times the holder's value. */
const DISPLACING_FACTOR = 2;

interface Place {
  value: number;
  lastSeenMs: number;
}

/** The label sets of a family that are exposed, and how many others were folded into one. */
export interface Folded {
  readonly sums: readonly LabelSum[];
  readonly foldedSets: number;
}

/**
 * Limits the label sets of one gauge family of one service code. The largest keep places of their own, the
 * rest is summed under `__other__`, so that sums stay exact.
 *
 * Places are held, not drawn anew at each listing: a terminal that invents values each time would otherwise
 * change what is exposed at every poll, which costs Prometheus more than any number of lasting series.
 */
export class GaugeGuard {
  readonly #maxLabelSets: number;
  readonly #places = new Map<string, Place>();

  constructor(maxLabelSets: number) {
    this.#maxLabelSets = maxLabelSets;
  }

  /** Folds the sums of a listing; `nowMs` is monotonic. */
  fold(sums: LabelSums, nowMs: number): Folded {
    this.#renew(sums, nowMs);
    this.#admit(sums, nowMs);
    const kept: LabelSum[] = [];
    let other: LabelSum | undefined;
    let foldedSets = 0;
    for (const sum of sums) {
      if (this.#places.has(sum.key)) {
        kept.push(sum);
        continue;
      }
      const labels = sum.labels.map(() => OTHER);
      other = { key: labelKey(labels), labels, value: (other?.value ?? 0) + sum.value };
      if (!isOther(sum)) foldedSets += 1;
    }
    return { sums: other === undefined ? kept : [...kept, other], foldedSets };
  }

  /** Holders that are in the listing keep their places; those gone for long lose them. */
  #renew(sums: LabelSums, nowMs: number): void {
    for (const [key, place] of this.#places) {
      const sum = sums.get(key);
      if (sum !== undefined) {
        place.value = sum.value;
        place.lastSeenMs = nowMs;
      } else if (nowMs - place.lastSeenMs >= PLACE_KEPT_MS) {
        this.#places.delete(key);
      }
    }
  }

  /** Gives places to newcomers: free ones first, then those of much smaller holders. */
  #admit(sums: LabelSums, nowMs: number): void {
    const newcomers = [...sums].filter((sum) => !this.#places.has(sum.key) && !isOther(sum));
    if (newcomers.length === 0) return;
    if (this.#places.size + newcomers.length > this.#maxLabelSets) newcomers.sort(byValueThenKey);
    const holders = this.#smallestFirst();
    for (const { key, value } of newcomers) {
      if (this.#places.size >= this.#maxLabelSets) {
        const weakest = holders.next().value;
        if (weakest === undefined || value <= DISPLACING_FACTOR * weakest[1].value) return;
        this.#places.delete(weakest[0]);
      }
      this.#places.set(key, { value, lastSeenMs: nowMs });
    }
  }

  /** The holders of this moment, sorted only if somebody asks. */
  *#smallestFirst(): Generator<[string, Place], undefined> {
    yield* [...this.#places].toSorted(([, a], [, b]) => a.value - b.value);
    return undefined;
  }
}

const isOther = (sum: LabelSum): boolean => sum.labels.every((label) => label === OTHER);

function byValueThenKey(a: LabelSum, b: LabelSum): number {
  if (a.value !== b.value) return b.value - a.value;
  return a.key < b.key ? -1 : 1;
}
