import { encodeLabelKey, OTHER } from '../listing/label-values.ts';
import type { LabelSet, SampleColumns } from '../metrics/catalogue/sample-columns.ts';
import type { Instant } from './instant.ts';
import type { LabelSum } from '../listing/families.ts';
import { LabelLimiter, type LabelFolding } from './label-limiter.ts';
import { SampleBuffer, SampleCache } from './sample-cache.ts';

/** A series as it is persisted. */
export interface PersistedSeries {
  /** Without the service code. */
  readonly labels: readonly string[];
  readonly total: number;
  /** Monotonic. */
  readonly lastUpdatedMs: number;
}

interface Series {
  readonly labels: LabelSet;
  total: number;
  /** The commit since which it is exposed at 0; `undefined` as soon as a scrape has seen that. */
  unseenSince: Instant | undefined;
  /** When something was last added, if only 0. */
  lastUpdated: Pick<Instant, 'monotonicMs'>;
}

/**
 * The counters of one family of one service code.
 *
 * Prometheus cannot see the increment with which a series appears. So a new series is exposed at 0 until a scrape has been
 * answered with that 0. A series that loses its slot is forgotten, and starts again at 0.
 */
export class CounterFamily {
  readonly #limiter: LabelLimiter;
  readonly #sampleCache: SampleCache;
  readonly #series = new Map<string, Series>();
  #committedAt: Instant = { wallMs: 0, monotonicMs: 0 };
  /** Label sets that were folded in the last commit. */
  foldedLabelSets = 0;
  /** Whether the last commit changed a total, or created or released a series. */
  hasChanged = false;

  constructor(serviceCode: string, folding: LabelFolding) {
    this.#sampleCache = new SampleCache(serviceCode);
    this.#limiter = new LabelLimiter(folding, false);
  }

  /** Adds the sums of a listing; adding 0 creates a series. */
  commit(increases: Iterable<LabelSum>, at: Instant): void {
    this.#committedAt = at;
    const { sums, released, foldedLabelSets } = this.#limiter.limit(increases, at);
    this.foldedLabelSets = foldedLabelSets;
    this.hasChanged = released.length > 0;
    for (const key of released) this.#release(key);
    for (const { key, labels, value } of sums)
      this.#add(this.#series.get(key) ?? this.#create(labels, key), value);
  }

  /** Number of series. */
  get size(): number {
    return this.#series.size;
  }

  /** The series after the last commit; `served` is the commit that the last scrape was answered with. */
  collect(served: Instant | undefined): SampleColumns {
    const samples = new SampleBuffer();
    for (const series of this.#series.values()) {
      series.unseenSince = stillUnseen(series.unseenSince, served);
      samples.add(series.labels, series.total, series.unseenSince === undefined ? series.total : 0);
    }
    return this.#sampleCache.update(samples);
  }

  /** The series with their totals, including gains that are not exposed yet. */
  *exportSeries(): Generator<PersistedSeries, void, undefined> {
    for (const { labels, total, lastUpdated } of this.#series.values())
      yield { labels, total, lastUpdatedMs: lastUpdated.monotonicMs };
  }

  /** Restores a series of an earlier process, even beyond the limit: a counter must not disappear. */
  restore({ labels, total, lastUpdatedMs }: PersistedSeries): void {
    const lastUpdated = { wallMs: 0, monotonicMs: lastUpdatedMs };
    this.#limiter.restore(labels, lastUpdated);
    const series = this.#create(labels, encodeLabelKey(labels));
    Object.assign(series, { total, unseenSince: undefined, lastUpdated });
  }

  #add(series: Series, amount: number): void {
    series.total += amount;
    this.hasChanged ||= amount > 0;
    series.lastUpdated = this.#committedAt;
  }

  /** The total of a released series that scrapes got at 0 is added to the series of folded label sets. */
  #release(key: string): void {
    const released = this.#series.get(key);
    this.#series.delete(key);
    if (released?.unseenSince === undefined || released.total === 0) return;
    const labels = released.labels.map(() => OTHER);
    const foldedKey = encodeLabelKey(labels);
    this.#add(this.#series.get(foldedKey) ?? this.#create(labels, foldedKey), released.total);
  }

  #create(labels: LabelSet, key: string): Series {
    const series: Series = {
      labels,
      total: 0,
      unseenSince: this.#committedAt,
      lastUpdated: this.#committedAt,
    };
    this.#series.set(key, series);
    this.hasChanged = true;
    return series;
  }
}

/** The commit since which a series is exposed at 0, unless a scrape has been answered with it or a later one. */
export function stillUnseen(since: Instant | undefined, served: Instant | undefined): Instant | undefined {
  return since !== undefined && served !== undefined && served.monotonicMs >= since.monotonicMs
    ? undefined
    : since;
}
