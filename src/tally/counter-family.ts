import type { LabelSet, SampleColumns } from '../metrics/sample-columns.ts';
import type { Instant } from './instant.ts';
import type { LabelFolding } from './label-folding.ts';
import { encodeLabelKey, type LabelSum } from './label-sums.ts';
import { SampleBuffer } from './sample-buffer.ts';
import { SampleCache } from './sample-cache.ts';

/**
 * When slots are short, the series of an absent label set is released after this time. Until then Prometheus, which
 * looks back five minutes, has had the time to scrape its last value.
 */
const RELEASE_AFTER_MS = 5 * 60 * 1000;

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
  /** How many of its labels are folded. */
  readonly level: number;
  total: number;
  /** Whether it is exposed at 0, because this commit created it. */
  isNew: boolean;
  /** When something was last added, if only 0. */
  lastUpdated: Pick<Instant, 'monotonicMs'>;
}

/**
 * The counters of one family of one service code.
 *
 * Prometheus cannot see the increment with which a series appears. So a new series is exposed at 0 first, and with its
 * gain after the next commit. A label set beyond the limit folds, one label at a time.
 */
export class CounterFamily {
  readonly #folding: LabelFolding;
  readonly #sampleCache: SampleCache;
  readonly #series = new Map<string, Series>();
  /** Number of series at each level of folding. */
  readonly #levelSizes: number[];
  #committedAt: Instant = { wallMs: 0, monotonicMs: 0 };
  /** Keys of series that can be released, by level, the longest idle last; computed when slots are short. */
  #releasableKeys: (string[] | undefined)[] | undefined;
  /** Label sets that were folded in the last commit. */
  foldedLabelSets = 0;
  /** Whether the last commit changed a total, or created or released a series. */
  hasChanged = false;

  constructor(serviceCode: string, folding: LabelFolding) {
    this.#sampleCache = new SampleCache(serviceCode);
    this.#folding = folding;
    this.#levelSizes = Array.from({ length: folding.levelCount }, () => 0);
  }

  /** Adds the sums of a listing; adding 0 creates a series. */
  commit(sums: Iterable<LabelSum>, at: Instant): void {
    this.#committedAt = at;
    this.#releasableKeys = undefined;
    this.foldedLabelSets = 0;
    this.hasChanged = false;
    for (const series of this.#series.values()) series.isNew = false;
    const pending: LabelSum[] = [];
    for (const sum of sums) {
      const series = this.#series.get(sum.key);
      if (series === undefined) pending.push(sum);
      else this.#add(series, sum.value);
    }
    for (const { labels, key, value } of pending) this.#add(this.#findOrCreate(labels, key), value);
  }

  /** Number of series. */
  get size(): number {
    return this.#series.size;
  }

  /** The series after the last commit. */
  collect(): SampleColumns {
    const samples = new SampleBuffer();
    for (const { labels, total, isNew } of this.#series.values()) samples.add(labels, isNew ? 0 : total);
    return this.#sampleCache.update(samples);
  }

  /** The series with their totals, including gains that are not exposed yet. */
  *exportSeries(): Generator<PersistedSeries, void, undefined> {
    for (const { labels, total, lastUpdated } of this.#series.values())
      yield { labels, total, lastUpdatedMs: lastUpdated.monotonicMs };
  }

  /** Restores a series of an earlier process, even beyond the limit: a counter must not disappear. */
  restore({ labels, total, lastUpdatedMs }: PersistedSeries): void {
    const series = this.#create(labels, encodeLabelKey(labels), this.#folding.computeLevel(labels));
    Object.assign(series, { total, isNew: false, lastUpdated: { monotonicMs: lastUpdatedMs } });
  }

  #add(series: Series, amount: number): void {
    series.total += amount;
    this.hasChanged ||= amount > 0;
    series.lastUpdated = this.#committedAt;
  }

  #findOrCreate(labels: LabelSet, key: string): Series {
    const lastLevel = this.#folding.levelCount - 1;
    const ownLevel = this.#folding.computeLevel(labels);
    let level = ownLevel;
    while (level < lastLevel && !this.#reserveSlot(level)) {
      labels = this.#folding.fold(labels, level);
      key = encodeLabelKey(labels);
      level = this.#folding.computeLevel(labels);
      if (level > ownLevel && this.#series.has(key)) break;
    }
    if (level > ownLevel) this.foldedLabelSets += 1;
    return this.#series.get(key) ?? this.#create(labels, key, level);
  }

  #create(labels: LabelSet, key: string, level: number): Series {
    const series: Series = {
      labels,
      level,
      total: 0,
      isNew: true,
      lastUpdated: this.#committedAt,
    };
    this.#series.set(key, series);
    this.hasChanged = true;
    this.#levelSizes[level] = (this.#levelSizes[level] ?? 0) + 1;
    return series;
  }

  /** Whether one more series of a level can be created, if need be after a release. */
  #reserveSlot(level: number): boolean {
    const size = this.#levelSizes[level] ?? 0;
    if (size < this.#folding.computeCapacity(level)) return true;
    this.#releasableKeys ??= [];
    const key = (this.#releasableKeys[level] ??= this.#findReleasableKeys(level)).pop();
    const released = key === undefined ? undefined : this.#series.get(key);
    if (key === undefined || released === undefined) return false;
    this.#delete(key, released);
    return true;
  }

  #delete(key: string, series: Series): void {
    this.#series.delete(key);
    this.#levelSizes[series.level] = (this.#levelSizes[series.level] ?? 0) - 1;
  }

  #findReleasableKeys(level: number): string[] {
    const now = this.#committedAt.monotonicMs;
    return [...this.#series]
      .filter(([, one]) => one.level === level && now - one.lastUpdated.monotonicMs >= RELEASE_AFTER_MS)
      .toSorted(([, a], [, b]) => b.lastUpdated.monotonicMs - a.lastUpdated.monotonicMs)
      .map(([key]) => key);
  }
}
