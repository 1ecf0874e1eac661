import type { Clock } from '../../runtime/clock.ts';
import { SINGLE_SHARD, type Shard } from '../../sharding/shard.ts';
import type { StateStatistics } from '../../state/state-store.ts';
import { CATALOGUE } from '../catalogue/catalogue.ts';
import { CodeLabels } from './code-labels.ts';
import { CodeMetrics, type PollMetrics } from './code-metrics.ts';
import type { Family, FamilySelection, FamilySpec } from '../catalogue/family.ts';
import { Histogram } from '../catalogue/histogram.ts';
import { MetricSet } from './metric-set.ts';
import { DefaultMetrics } from './prom-client-adapter.ts';
import { SampleColumns } from '../catalogue/sample-columns.ts';
import { createWebMetrics } from './web-metrics.ts';

/** The clock and the metrics of the web server change with each scrape; concurrent scrapes share an exposition that is the same. */
const VOLATILE_METRICS_MAX_AGE_MS = 1000;
/** Collecting the default metrics reads `/proc` and computes percentiles, which takes as long as a small scrape. */
const DEFAULT_METRICS_MAX_AGE_MS = 10_000;

/** Families without a service code, in the order of the catalogue. */
const PROCESS_FAMILIES: readonly FamilySpec[] = [
  CATALOGUE.shards,
  CATALOGUE.shardIndex,
  CATALOGUE.serviceCodes,
  CATALOGUE.buildInfo,
  CATALOGUE.pendingResponseBytes,
  CATALOGUE.pendingResponseLimit,
  CATALOGUE.logLinesDropped,
  CATALOGUE.configLastReloadSuccessful,
  CATALOGUE.configLastReloadSuccess,
  CATALOGUE.codeFileValid,
  CATALOGUE.stateWriteErrors,
  CATALOGUE.stateDelayedPublications,
  CATALOGUE.stateLastSuccess,
  CATALOGUE.stateSize,
];

/** Families that several scrapes share. */
interface SharedFamilies {
  readonly atMs: number;
  readonly families: Promise<readonly Family[]>;
}

/** When the configuration was loaded, in milliseconds since the Unix epoch. */
export interface ConfigLoads {
  readonly lastSuccessMs: number | undefined;
  /** The last failure since then. */
  readonly lastFailureMs: number | undefined;
}

/** A file of service codes, by its path as configured. */
interface CodeFileStatus {
  readonly name: string;
  readonly problems: readonly unknown[];
}

export interface ExporterMetricsOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
  /** Default: the only shard. */
  readonly shard?: Shard;
  /** Static labels of service codes. Default: none. */
  readonly labels?: CodeLabels;
  /** Decoded bytes of the bodies being read. Default: none. */
  readonly decodingBudget?: { readonly usedBytes: number; readonly limitBytes: number };
  /** Numbers of the state; `undefined` without `state.path`. */
  readonly state?: Readonly<StateStatistics> | undefined;
  /** Default: every line is written. */
  readonly log?: { readonly droppedLines: number } | undefined;
}

/** The exporter's metrics of its polls and its process. Create it once per process, because of `DefaultMetrics`. */
export class ExporterMetrics implements Disposable {
  readonly #clock: Clock;
  readonly #labels: CodeLabels;
  readonly #defaultMetrics = new DefaultMetrics();
  readonly #processMetrics = new MetricSet(PROCESS_FAMILIES);
  /** Metrics of the web server. */
  readonly web = createWebMetrics();
  readonly #codeMetrics = new Map<string, CodeMetrics>();
  readonly #pollDurations = new Histogram(CATALOGUE.pollDuration.buckets);
  readonly #decodingBudget: NonNullable<ExporterMetricsOptions['decodingBudget']>;
  readonly #state: Readonly<StateStatistics> | undefined;
  readonly #log: NonNullable<ExporterMetricsOptions['log']>;
  #lastVolatile: { readonly atMs: number; readonly families: readonly Family[] } | undefined;
  #lastDefaults: SharedFamilies | undefined;
  #configLoads: ConfigLoads = { lastSuccessMs: undefined, lastFailureMs: undefined };

  constructor(options: ExporterMetricsOptions) {
    const { clock, version, revision, nodeVersion, shard = SINGLE_SHARD } = options;
    this.#clock = clock;
    this.#labels = options.labels ?? new CodeLabels();
    this.#decodingBudget = options.decodingBudget ?? { usedBytes: 0, limitBytes: 0 };
    this.#state = options.state;
    this.#log = options.log ?? { droppedLines: 0 };
    this.#processMetrics.set(CATALOGUE.serviceCodes, 0);
    this.#processMetrics.set(CATALOGUE.shards, shard.count);
    this.#processMetrics.set(CATALOGUE.shardIndex, shard.index);
    this.#processMetrics.set(CATALOGUE.buildInfo, 1, version, revision, nodeVersion);
  }

  /** Creates the series of a service code, counters at 0. If it is tracked already, only updates its poll interval. */
  track(serviceCode: string, intervalMs: number): PollMetrics {
    const metrics =
      this.#codeMetrics.get(serviceCode) ?? new CodeMetrics(serviceCode, this.#clock, this.#pollDurations);
    this.#codeMetrics.set(serviceCode, metrics);
    this.#processMetrics.set(CATALOGUE.serviceCodes, this.#codeMetrics.size);
    metrics.setIntervalMs(intervalMs);
    return metrics;
  }

  /** Removes all series of a service code; a poll that ends later does not bring them back. */
  untrack(serviceCode: string): void {
    this.#codeMetrics.delete(serviceCode);
    this.#processMetrics.set(CATALOGUE.serviceCodes, this.#codeMetrics.size);
  }

  /** Counts the series of all service codes without creating samples. */
  get codeSeriesCount(): number {
    return [...this.#codeMetrics.values()].reduce((sum, { seriesCount }) => sum + seriesCount, 0);
  }

  /**
   * Records the result of loading the configuration, at the start and at each reload.
   *
   * @param codeFiles - the files of service codes, if they were applied
   */
  recordConfigLoad(isSuccessful: boolean, codeFiles?: readonly CodeFileStatus[]): void {
    if (codeFiles !== undefined) {
      const { codeFileValid } = CATALOGUE;
      this.#processMetrics.clear(codeFileValid);
      for (const { name, problems } of codeFiles)
        this.#processMetrics.set(codeFileValid, problems.length === 0 ? 1 : 0, name);
    }
    this.#processMetrics.set(CATALOGUE.configLastReloadSuccessful, isSuccessful ? 1 : 0);
    const nowMs = this.#clock.now();
    if (isSuccessful) {
      this.#processMetrics.set(CATALOGUE.configLastReloadSuccess, nowMs / 1000);
      this.#configLoads = { lastSuccessMs: nowMs, lastFailureMs: undefined };
    } else this.#configLoads = { ...this.#configLoads, lastFailureMs: nowMs };
  }

  get configLoads(): ConfigLoads {
    return this.#configLoads;
  }

  /** Collects the selected families: of service codes, then of the process, each in the order of the catalogue. */
  async collect(selection: FamilySelection = 'everything'): Promise<readonly Family[]> {
    if (typeof selection === 'object') return this.#collectCodes([selection.serviceCode]);
    this.#readCurrentValues();
    return [
      ...(selection === 'exporter' ? [] : this.#collectCodes(this.#codeMetrics.keys())),
      ...this.#processMetrics.families,
      { spec: CATALOGUE.pollDuration, samples: [this.#pollDurations.toSample([])] },
      ...this.#collectVolatile(),
      ...(await this.#collectDefaults()),
    ];
  }

  /** Records that a scrape has been answered with these families. */
  markServed(families: readonly Family[]): void {
    for (const { spec, samples } of families) {
      if (spec === CATALOGUE.pollsSkipped && samples instanceof SampleColumns)
        this.#codeMetrics.get(samples.serviceCode)?.markSkipsServed(samples);
    }
  }

  #readCurrentValues(): void {
    const metrics = this.#processMetrics;
    metrics.set(CATALOGUE.pendingResponseBytes, this.#decodingBudget.usedBytes);
    metrics.set(CATALOGUE.pendingResponseLimit, this.#decodingBudget.limitBytes);
    metrics.set(CATALOGUE.logLinesDropped, this.#log.droppedLines);
    if (this.#state === undefined) return;
    const { writeErrors, delayedPublications, lastWriteMs, bytes } = this.#state;
    metrics.set(CATALOGUE.stateWriteErrors, writeErrors);
    metrics.set(CATALOGUE.stateDelayedPublications, delayedPublications);
    metrics.set(CATALOGUE.stateLastSuccess, lastWriteMs && lastWriteMs / 1000);
    metrics.set(CATALOGUE.stateSize, bytes);
  }

  [Symbol.dispose](): void {
    this.#defaultMetrics[Symbol.dispose]();
  }

  /** Collects the clock and the metrics of the web server, at most once a second. */
  #collectVolatile(): readonly Family[] {
    const nowMs = this.#clock.monotonic();
    if (this.#lastVolatile === undefined || nowMs - this.#lastVolatile.atMs >= VOLATILE_METRICS_MAX_AGE_MS) {
      const time = { spec: CATALOGUE.time, samples: [{ labels: [], value: this.#clock.now() / 1000 }] };
      this.#lastVolatile = { atMs: nowMs, families: [time, ...this.web.families] };
    }
    return this.#lastVolatile.families;
  }

  /** Collects the default metrics, at most every ten seconds. */
  #collectDefaults(): Promise<readonly Family[]> {
    const nowMs = this.#clock.monotonic();
    if (this.#lastDefaults === undefined || nowMs - this.#lastDefaults.atMs >= DEFAULT_METRICS_MAX_AGE_MS)
      this.#lastDefaults = { atMs: nowMs, families: this.#defaultMetrics.collectFamilies() };
    return this.#lastDefaults.families;
  }

  /** Collects each family in one part for each service code. */
  #collectCodes(serviceCodes: Iterable<string>): readonly Family[] {
    const codes = Array.from(serviceCodes, (serviceCode) => this.#collectCode(serviceCode));
    return (codes[0] ?? []).flatMap((_, index) => codes.flatMap((families) => families[index] ?? []));
  }

  #collectCode(serviceCode: string): readonly Family[] {
    const families = this.#codeMetrics.get(serviceCode)?.families ?? [];
    return families.map((family) => this.#labels.addLabels(family, serviceCode));
  }
}
