import type { LabelSum } from '../listing/families.ts';
import { toKeyedLabels } from '../listing/label-values.ts';
import type { LabelSet, SampleColumns } from '../metrics/catalogue/sample-columns.ts';
import type { LedgerCounter, ListingGauge } from './family-keys.ts';
import type { Instant } from './instant.ts';
import { LabelLimiter } from './label-limiter.ts';
import { SampleCache } from './sample-cache.ts';

/** The gauges of one family of one service code: the sums of the last listing. */
export class GaugeFamily {
  readonly limiter: LabelLimiter;
  readonly #sampleCache: SampleCache;
  /** The last listing that repeated the sums of the one before. */
  #repeatedAt: Instant | undefined;

  constructor(family: ListingGauge, serviceCode: string, maxLabelSets: number) {
    this.limiter = new LabelLimiter(family, maxLabelSets, true);
    this.#sampleCache = new SampleCache(serviceCode);
  }

  /** Takes the sums of a listing. Most repeat those of the one before: slots need to know that only when sums change. */
  commit(sums: Iterable<LabelSum>, at: Instant): SampleColumns {
    const { last } = this.#sampleCache;
    const listed = [...sums];
    if (this.#sampleCache.isRepeatedBy(listed)) {
      this.#repeatedAt = at;
      return last;
    }
    if (this.#repeatedAt !== undefined) this.limiter.limit(listSums(last), this.#repeatedAt);
    this.#repeatedAt = undefined;
    return this.#sampleCache.update(this.limiter.limit(listed, at).sums);
  }
}

function listSums({ labelSets, values }: SampleColumns): readonly LabelSum[] {
  return labelSets.map((labels, at) => ({ ...toKeyedLabels(labels), value: values[at] ?? 0 }));
}

/** A series as it is persisted: labels without the service code, and when it was updated before the last listing. */
export type PersistedSeries = readonly [labels: readonly string[], total: number, beforeMs: number];

interface Series {
  readonly labels: LabelSet;
  /** The total. */
  value: number;
  /** When something was last added, if only 0. */
  lastUpdatedMs: number;
}

/** The counters of one family of one service code. A series that loses its slot is forgotten, and starts again at 0. */
export class CounterFamily {
  readonly limiter: LabelLimiter;
  readonly #sampleCache: SampleCache;
  readonly #series = new Map<string, Series>();

  constructor(family: LedgerCounter, serviceCode: string, maxLabelSets: number) {
    this.limiter = new LabelLimiter(family, maxLabelSets, false);
    this.#sampleCache = new SampleCache(serviceCode);
  }

  /** Adds the sums of a listing; adding 0 creates a series. */
  commit(increases: Iterable<LabelSum>, at: Instant): void {
    const { sums, released } = this.limiter.limit(increases, at);
    for (const key of released) this.#series.delete(key);
    for (const sum of sums) this.#add(sum, at);
  }

  /** The series after the last commit. */
  collect(): SampleColumns {
    return this.#sampleCache.update([...this.#series.values()]);
  }

  /** The series with their totals; `undefined` without series. */
  exportSeries(last: Instant): readonly PersistedSeries[] | undefined {
    if (this.#series.size === 0) return undefined;
    return Array.from(this.#series.values(), ({ labels, value, lastUpdatedMs }): PersistedSeries => [
      labels,
      value,
      last.monotonicMs - lastUpdatedMs,
    ]);
  }

  /** Restores a series of an earlier process, even beyond the limit: a counter must not disappear. */
  restore([persisted, total, beforeMs]: PersistedSeries, last: Instant): void {
    const lastUpdatedMs = last.monotonicMs - beforeMs;
    this.limiter.restore(persisted, { wallMs: 0, monotonicMs: lastUpdatedMs });
    const { key, labels } = toKeyedLabels(persisted);
    this.#series.set(key, { labels, value: total, lastUpdatedMs });
  }

  #add({ key, labels, value }: LabelSum, { monotonicMs: lastUpdatedMs }: Instant): void {
    const series = this.#series.get(key);
    if (series === undefined) this.#series.set(key, { labels, value, lastUpdatedMs });
    else {
      series.value += value;
      series.lastUpdatedMs = lastUpdatedMs;
    }
  }
}
