import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { CATALOGUE } from './catalogue.ts';
import { WHOLE, type Shard } from '../sharding/shard.ts';
import { CodeLabels } from './code-labels.ts';
import { CodeMetrics } from './code-metrics.ts';
import type { PollMetrics } from './code-metrics.ts';
import type { Family } from './family.ts';
import { MetricSet } from './metric-set.ts';
import { toDefaultFamily } from './registry-families.ts';
import type { Selection } from './selection.ts';

/** Where the writes of the state file are counted. */
export interface StateMetrics {
  written(bytes: number): void;
  failed(): void;
}

export interface SelfMetricsOptions {
  readonly clock: Clock;
  readonly version: string;
  readonly revision: string;
  readonly nodeVersion: string;
  /** Without it, the only one. */
  readonly shard?: Shard;
  /** Those that service codes have; without them, none has any. */
  readonly labels?: CodeLabels;
}

/**
 * What the exporter says about itself: of its polls by `CodeMetrics`, of the process by prom-client. Beside metric-set.ts it
 * is the only module that knows prom-client: the library is moving to a new package name.
 *
 * One a process: the default metrics observe garbage collections and the event loop, which prom-client
 * offers no way to stop. They do not keep the process alive.
 */
export class SelfMetrics {
  readonly #clock: Clock;
  /** The default metrics. Its content type must stay: with that of OpenMetrics, prom-client renames counters. */
  readonly #registry = new Registry();
  /** Apart from the registry, so that a scrape of service codes does not pay for the default metrics. */
  readonly #metrics = processMetrics();
  readonly #codes = new Map<string, CodeMetrics>();
  readonly #labels: CodeLabels;
  /** When the series of the state file were made, in seconds. */
  #stateBirth: number | undefined;

  constructor(options: SelfMetricsOptions) {
    const { clock, version, revision, nodeVersion, shard = WHOLE, labels = new CodeLabels() } = options;
    this.#clock = clock;
    this.#labels = labels;
    const { shards, shardIndex, stateWriteErrors, stateLastSuccess, stateSize } = this.#metrics;
    // prom-client begins what has no labels at 0.
    for (const metric of [stateWriteErrors, stateLastSuccess, stateSize]) metric.remove();
    shards.set(shard.count);
    shardIndex.set(shard.index);
    this.#metrics.buildInfo.set({ version, revision, node_version: nodeVersion }, 1);
    collectDefaultMetrics({ register: this.#registry });
  }

  /**
   * Makes every series of a service code, counters at 0. For one that is tracked already the counters go on
   * and only the interval is set anew.
   */
  track(serviceCode: string, intervalMs: number): PollMetrics {
    const metrics = this.#codes.get(serviceCode) ?? new CodeMetrics(serviceCode, this.#clock);
    this.#codes.set(serviceCode, metrics);
    this.#metrics.serviceCodes.set(this.#codes.size);
    metrics.interval(intervalMs);
    return metrics;
  }

  /** Removes every series of a service code. A poll that ends later is counted where nobody sees it. */
  untrack(serviceCode: string): void {
    this.#codes.delete(serviceCode);
    this.#metrics.serviceCodes.set(this.#codes.size);
  }

  /** How many series the service codes have, without making them. */
  get codeSeries(): number {
    return [...this.#codes.values()].reduce((sum, { series }) => sum + series, 0);
  }

  /** Tells the outcome of loading the configuration, at the start and at every reload. */
  configLoaded(successful: boolean): void {
    this.#metrics.configLastReloadSuccessful.set(successful ? 1 : 0);
    if (successful) this.#metrics.configLastReloadSuccess.set(this.#clock.now() / 1000);
  }

  /** Makes the series of the state file, the counter at 0; the others come with the first write. */
  trackState(): StateMetrics {
    const { stateWriteErrors, stateLastSuccess, stateSize } = this.#metrics;
    this.#stateBirth ??= this.#clock.now() / 1000;
    stateWriteErrors.inc(0);
    return {
      written: (bytes) => {
        stateLastSuccess.set(this.#clock.now() / 1000);
        stateSize.set(bytes);
      },
      failed: () => stateWriteErrors.inc(),
    };
  }

  /** What of it a scrape wants, in the order of the catalogue, the default metrics last. */
  async collect(selection: Selection = 'everything'): Promise<readonly Family[]> {
    const ofCodes = selection === 'exporter' ? [] : this.#ofCodes(selection);
    const isOfCodes = selection === 'service_codes' || typeof selection === 'object';
    return isOfCodes ? ofCodes : [...ofCodes, ...(await this.#ofProcess())];
  }

  /** Lets go of the default metrics. */
  [Symbol.dispose](): void {
    this.#registry.clear();
  }

  /** A part of each family for each service code. */
  #ofCodes(selection: Selection): readonly Family[] {
    const wanted = typeof selection === 'object' ? selection : this.#codes.keys();
    const parts = Array.from(wanted, (serviceCode) => this.#ofCode(serviceCode));
    return (parts[0] ?? []).flatMap((_, index) => parts.flatMap((families) => families[index] ?? []));
  }

  #ofCode(serviceCode: string): readonly Family[] {
    const families = this.#codes.get(serviceCode)?.families ?? [];
    return families.map((family) => this.#labels.label(family, serviceCode));
  }

  async #ofProcess(): Promise<readonly Family[]> {
    const own = await this.#metrics.set.families(this.#stateBirth);
    const defaults = await this.#registry.getMetricsAsJSON();
    return [...own, ...defaults.flatMap((metric) => toDefaultFamily(metric) ?? [])];
  }
}

/** The exporter's own metrics that have no service code, in the order of the catalogue. */
function processMetrics() {
  const set = new MetricSet();
  return {
    set,
    shards: set.gauge(CATALOGUE.shards),
    shardIndex: set.gauge(CATALOGUE.shardIndex),
    serviceCodes: set.gauge(CATALOGUE.serviceCodes),
    buildInfo: set.gauge(CATALOGUE.buildInfo),
    configLastReloadSuccessful: set.gauge(CATALOGUE.configLastReloadSuccessful),
    configLastReloadSuccess: set.gauge(CATALOGUE.configLastReloadSuccess),
    stateWriteErrors: set.counter(CATALOGUE.stateWriteErrors),
    stateLastSuccess: set.gauge(CATALOGUE.stateLastSuccess),
    stateSize: set.gauge(CATALOGUE.stateSize),
  };
}
