import type { LabelSet, Points } from '../metrics/points.ts';
import type { Instant } from './instant.ts';
import { labelKey, type LabelSum } from './label-sums.ts';
import { OTHER } from './label-values.ts';
import { PublishedPoints } from './published-points.ts';

/** A label set idle for so long gives way when a new one would find no place. */
const IDLE_MS = 60 * 60 * 1000;

/** What is kept of a series from one process to the next. */
export interface KeptSeries {
  /** Without the service code. */
  readonly labels: readonly string[];
  readonly total: number;
  /** In seconds since the Unix epoch. */
  readonly created: number;
  /** Monotonic. */
  readonly lastTouchedMs: number;
}

interface Series {
  readonly labels: LabelSet;
  /** In seconds since the Unix epoch. */
  readonly created: number;
  total: number;
  isNewborn: boolean;
  /** When something was last added, if only 0. */
  lastTouched: Pick<Instant, 'monotonicMs'>;
}

/**
 * The counters of one family of one service code.
 *
 * A series is born at zero: Prometheus cannot see the increment with which a series appears, so it is exposed
 * at 0 first, and with what it gained then after the next commit. A label set beyond the limit counts under
 * `__other__`; one that has a series of its own keeps it while it is in use, for a counter must not go
 * backwards.
 */
export class CounterFamily {
  readonly #maxLabelSets: number;
  readonly #published: PublishedPoints;
  readonly #series = new Map<string, Series>();
  #other: Series | undefined;
  /** Few families ever have any. */
  #foldedKeys: Set<string> | undefined;
  #at: Instant = { wallMs: 0, monotonicMs: 0 };
  /** Keys of idle series, the longest idle last; found at most once a commit, when places are short. */
  #idleKeys: string[] | undefined;

  constructor(serviceCode: string, maxLabelSets: number) {
    this.#published = new PublishedPoints(serviceCode);
    this.#maxLabelSets = maxLabelSets;
  }

  /** Label sets that counted under `__other__` in this commit. */
  get foldedSets(): number {
    return this.#foldedKeys?.size ?? 0;
  }

  /** Begins a commit: whatever was gained before it now shows. */
  begin(at: Instant): void {
    this.#at = at;
    this.#foldedKeys = undefined;
    this.#idleKeys = undefined;
    for (const series of this.#all()) series.isNewborn = false;
  }

  /** Adds a sum to its label set; adding 0 makes it appear. */
  add(sum: LabelSum): void {
    const series = this.#find(sum);
    series.total += sum.value;
    series.lastTouched = this.#at;
  }

  /** The series as this commit leaves them. */
  points(): Points {
    const all = this.#all();
    return this.#published.publish(
      all.map(({ labels }) => labels),
      all.map(({ total, isNewborn }) => (isNewborn ? 0 : total)),
      all.map(({ created }) => created),
    );
  }

  /** The series with their whole totals. */
  *kept(): Generator<KeptSeries, void, undefined> {
    for (const { labels, total, created, lastTouched } of this.#all()) {
      yield { labels, total, created, lastTouchedMs: lastTouched.monotonicMs };
    }
  }

  /** Takes a series of an earlier process, whatever the limit is now: a counter must not vanish. */
  restore({ labels, total, created, lastTouchedMs }: KeptSeries): void {
    const lastTouched = { monotonicMs: lastTouchedMs };
    const series = { labels, created, total, isNewborn: false, lastTouched };
    if (isOther(labels)) this.#other = series;
    else this.#series.set(labelKey(labels), series);
  }

  #all(): Series[] {
    return this.#other === undefined ? [...this.#series.values()] : [...this.#series.values(), this.#other];
  }

  #find({ key, labels }: LabelSum): Series {
    const found = this.#series.get(key);
    if (found !== undefined) return found;
    if (isOther(labels) || !this.#makeRoom()) {
      this.#foldedKeys ??= new Set();
      this.#foldedKeys.add(key);
      this.#other ??= this.#newSeries(labels.map(() => OTHER));
      return this.#other;
    }
    const series = this.#newSeries(labels);
    this.#series.set(key, series);
    return series;
  }

  #newSeries(labels: readonly string[]): Series {
    return {
      labels,
      created: this.#at.wallMs / 1000,
      total: 0,
      isNewborn: true,
      lastTouched: this.#at,
    };
  }

  /** True if there is a place for one more, if need be that of an idle series. */
  #makeRoom(): boolean {
    if (this.#series.size < this.#maxLabelSets) return true;
    this.#idleKeys ??= this.#findIdle();
    const idlest = this.#idleKeys.pop();
    return idlest !== undefined && this.#series.delete(idlest);
  }

  #findIdle(): string[] {
    return [...this.#series]
      .filter(([, series]) => this.#at.monotonicMs - series.lastTouched.monotonicMs >= IDLE_MS)
      .toSorted(([, a], [, b]) => b.lastTouched.monotonicMs - a.lastTouched.monotonicMs)
      .map(([key]) => key);
  }
}

const isOther = (labels: readonly string[]): boolean => labels.every((label) => label === OTHER);
