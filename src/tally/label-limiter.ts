import type { LabelSet, Points } from '../metrics/points.ts';
import type { Instant } from './instant.ts';
import type { LabelSum, LabelSums } from './label-sums.ts';
import { OTHER } from './label-values.ts';
import { PublishedPoints } from './published-points.ts';

/** How long a label set that left keeps its place, so that strangers do not take turns in it. */
const PLACE_KEPT_MS = 60 * 60 * 1000;
/** A newcomer takes a place only with more than so many times the holder's value. */
const DISPLACING_FACTOR = 2;

interface Place {
  readonly labels: LabelSet;
  value: number;
  /** When it was last in a listing. */
  lastSeen: Instant;
}

/** What is exposed of a family, and how many label sets were folded into one. */
export interface Folded {
  readonly points: Points;
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
  readonly #published: PublishedPoints;
  /** The labels of what is folded, once something was. */
  #otherLabels: LabelSet | undefined;

  constructor(serviceCode: string, maxLabelSets: number) {
    this.#published = new PublishedPoints(serviceCode);
    this.#maxLabelSets = maxLabelSets;
  }

  /** Folds the sums of a listing that was taken at a moment. */
  fold(sums: LabelSums, at: Instant): Folded {
    this.#admit(this.#renew(sums, at), at);
    const labelSets: LabelSet[] = [];
    const values: number[] = [];
    let folded: number | undefined;
    let foldedSets = 0;
    for (const sum of sums) {
      const place = this.#places.get(sum.key);
      if (place !== undefined) {
        labelSets.push(place.labels);
        values.push(place.value);
        continue;
      }
      this.#otherLabels ??= sum.labels.map(() => OTHER);
      folded = (folded ?? 0) + sum.value;
      if (!isOther(sum)) foldedSets += 1;
    }
    if (folded !== undefined && this.#otherLabels !== undefined) {
      labelSets.push(this.#otherLabels);
      values.push(folded);
    }
    return { points: this.#published.publish(labelSets, values), foldedSets };
  }

  /** Holders that are in the listing keep their places; those gone for long lose them. Returns those who have none. */
  #renew(sums: LabelSums, at: Instant): LabelSum[] {
    const newcomers: LabelSum[] = [];
    let renewed = 0;
    for (const sum of sums) {
      const place = this.#places.get(sum.key);
      if (place === undefined) {
        if (!isOther(sum)) newcomers.push(sum);
        continue;
      }
      place.value = sum.value;
      place.lastSeen = at;
      renewed += 1;
    }
    if (renewed < this.#places.size) this.#forget(at);
    return newcomers;
  }

  #forget(at: Instant): void {
    for (const [key, { lastSeen }] of this.#places) {
      if (at.monotonicMs - lastSeen.monotonicMs >= PLACE_KEPT_MS) this.#places.delete(key);
    }
  }

  /** Gives places to newcomers: free ones first, then those of much smaller holders. */
  #admit(newcomers: LabelSum[], at: Instant): void {
    if (newcomers.length === 0) return;
    if (this.#places.size + newcomers.length > this.#maxLabelSets) newcomers.sort(byValueThenKey);
    const holders = this.#smallestFirst();
    for (const { key, labels, value } of newcomers) {
      if (this.#places.size >= this.#maxLabelSets) {
        const weakest = holders.next().value;
        if (weakest === undefined || value <= DISPLACING_FACTOR * weakest[1].value) return;
        this.#places.delete(weakest[0]);
      }
      this.#places.set(key, { labels, value, lastSeen: at });
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
