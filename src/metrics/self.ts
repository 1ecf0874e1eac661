import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../clock.ts';
import { INVALID_RECORD_PAIRS } from '../listing/records.ts';
import type { InvalidReason, RecordKind } from '../listing/records.ts';
import { WHOLE, type Shard } from '../sharding/shard.ts';
import { POLL_ERROR_REASONS } from '../upstream/errors.ts';
import type { PollErrorReason } from '../upstream/errors.ts';
import { CATALOGUE } from './catalogue.ts';
import type { Family, FamilySpec } from './family.ts';
import { toDefaultFamily, toFamily } from './registry-families.ts';
import type { RegistryLabels } from './registry-families.ts';

/** Why a poll that was due was left out. */
export type SkipReason = 'overlap' | 'retry_after';

const SKIP_REASONS: readonly SkipReason[] = ['overlap', 'retry_after'];

/** Where the polls of one service code are counted. Once the code is untracked, nothing more is. */
export interface PollMetrics {
  started(): void;
  succeeded(durationSeconds: number): void;
  failed(reason: PollErrorReason, durationSeconds: number): void;
  skipped(reason: SkipReason): void;
  /** Size of the body, decompressed, in bytes. */
  responseBytes(bytes: number): void;
  invalidRecord(record: RecordKind, reason: InvalidReason, count: number): void;
}

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
}

/**
 * What the exporter says about itself, by prom-client, and the default metrics of the process. It is the
 * only module that knows prom-client: the library is moving to a new package name.
 *
 * One a process: the default metrics observe garbage collections and the event loop, which prom-client
 * offers no way to stop. They do not keep the process alive.
 */
export class SelfMetrics {
  readonly #clock: Clock;
  /** The default metrics. Its content type must stay: with that of OpenMetrics, prom-client renames counters. */
  readonly #registry = new Registry();
  readonly #metrics = createMetrics();
  /** When the series of each service code were made, in seconds. */
  readonly #births = new Map<string, number>();
  /** When those of the state file were. */
  #stateBirth: number | undefined;

  constructor({ clock, version, revision, nodeVersion, shard = WHOLE }: SelfMetricsOptions) {
    this.#clock = clock;
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
    const code = { service_code: serviceCode };
    this.#metrics.pollInterval.set(code, intervalMs / 1000);
    if (!this.#births.has(serviceCode)) {
      this.#births.set(serviceCode, this.#clock.now() / 1000);
      this.#metrics.serviceCodes.set(this.#births.size);
      for (const [counter, labels] of this.#countersOf(serviceCode)) counter.inc(labels, 0);
      this.#metrics.pollDuration.zero(code);
    }
    return this.#pollMetrics(serviceCode);
  }

  /** Removes every series of a service code. */
  untrack(serviceCode: string): void {
    const { lastPoll, lastSuccess, pollInterval, responseBytes, pollDuration } = this.#metrics;
    const code = { service_code: serviceCode };
    this.#births.delete(serviceCode);
    this.#metrics.serviceCodes.set(this.#births.size);
    for (const [counter, labels] of this.#countersOf(serviceCode)) counter.remove(labels);
    for (const gauge of [lastPoll, lastSuccess, pollInterval, responseBytes]) gauge.remove(code);
    pollDuration.remove(code);
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

  /** Everything; or, for a set of service codes, what carries one of them as its label. */
  async collect(serviceCodes?: ReadonlySet<string>): Promise<readonly Family[]> {
    const birthOf = (labels: RegistryLabels) =>
      'service_code' in labels ? this.#births.get(serviceCodeOf(labels)) : this.#stateBirth;
    const wanted = this.#metrics.own.filter(
      ({ spec }) => serviceCodes === undefined || spec.labels.includes('service_code'),
    );
    const own = await Promise.all(
      wanted.map(async ({ spec, metric }) => {
        const { values } = await metric.get();
        const chosen = values.filter(({ labels }) => serviceCodes?.has(serviceCodeOf(labels)) ?? true);
        return toFamily(spec, chosen, birthOf);
      }),
    );
    if (serviceCodes !== undefined) return own;
    const defaults = await this.#registry.getMetricsAsJSON();
    return [...own, ...defaults.flatMap((metric) => toDefaultFamily(metric) ?? [])];
  }

  /** Lets go of the default metrics. */
  [Symbol.dispose](): void {
    this.#registry.clear();
  }

  #pollMetrics(serviceCode: string): PollMetrics {
    const metrics = this.#metrics;
    const code = { service_code: serviceCode };
    const ended = (durationSeconds: number) => {
      metrics.pollDuration.observe(code, durationSeconds);
      metrics.lastPoll.set(code, this.#clock.now() / 1000);
    };
    // A poll may end after its service code has left the configuration: it must not bring the series back.
    const whileTracked =
      <A extends readonly unknown[]>(record: (...args: A) => void) =>
      (...args: A) => {
        if (this.#births.has(serviceCode)) record(...args);
      };
    return {
      started: whileTracked(() => metrics.polls.inc(code)),
      succeeded: whileTracked((durationSeconds) => {
        ended(durationSeconds);
        metrics.lastSuccess.set(code, this.#clock.now() / 1000);
      }),
      failed: whileTracked((reason, durationSeconds) => {
        ended(durationSeconds);
        metrics.pollErrors.inc({ service_code: serviceCode, reason });
      }),
      skipped: whileTracked((reason) => metrics.pollsSkipped.inc({ service_code: serviceCode, reason })),
      responseBytes: whileTracked((bytes) => metrics.responseBytes.set(code, bytes)),
      invalidRecord: whileTracked((record, reason, count) =>
        metrics.invalidRecords.inc({ service_code: serviceCode, record, reason }, count),
      ),
    };
  }

  /**
   * Every counter series that a service code can have. Literals, no spread: prom-client keeps these objects, and what
   * V8 optimizes of a spread gives each a hidden class of its own, three times the size of the object.
   */
  #countersOf(serviceCode: string): readonly (readonly [Counter, Record<string, string>])[] {
    const { polls, pollErrors, pollsSkipped, invalidRecords } = this.#metrics;
    const service_code = serviceCode;
    return [
      [polls, { service_code }],
      ...POLL_ERROR_REASONS.map((reason) => [pollErrors, { service_code, reason }] as const),
      ...SKIP_REASONS.map((reason) => [pollsSkipped, { service_code, reason }] as const),
      ...INVALID_RECORD_PAIRS.map(
        ([record, reason]) => [invalidRecords, { service_code, record, reason }] as const,
      ),
    ];
  }
}

function serviceCodeOf(labels: RegistryLabels): string {
  return String(labels['service_code']);
}

interface OwnMetric {
  readonly spec: FamilySpec;
  readonly metric: Counter | Gauge | Histogram;
}

function configuration({ name, help, labels }: FamilySpec) {
  return { name, help, labelNames: labels, registers: [] };
}

/**
 * The exporter's own metrics, in the order of the catalogue. They stay out of the registry, so that a scrape
 * narrowed to service codes does not pay for the default metrics.
 */
function createMetrics() {
  const own: OwnMetric[] = [];
  const add = <M extends OwnMetric['metric']>(spec: FamilySpec, metric: M): M => {
    own.push({ spec, metric });
    return metric;
  };
  const gauge = (spec: FamilySpec) => add(spec, new Gauge(configuration(spec)));
  const counter = (spec: FamilySpec) => add(spec, new Counter(configuration(spec)));
  const histogram = (spec: FamilySpec) =>
    add(spec, new Histogram({ ...configuration(spec), buckets: [...(spec.buckets ?? [])] }));
  return {
    own,
    polls: counter(CATALOGUE.polls),
    pollErrors: counter(CATALOGUE.pollErrors),
    pollsSkipped: counter(CATALOGUE.pollsSkipped),
    pollDuration: histogram(CATALOGUE.pollDuration),
    lastPoll: gauge(CATALOGUE.lastPoll),
    lastSuccess: gauge(CATALOGUE.lastSuccess),
    pollInterval: gauge(CATALOGUE.pollInterval),
    responseBytes: gauge(CATALOGUE.responseBytes),
    invalidRecords: counter(CATALOGUE.invalidRecords),
    serviceCodes: gauge(CATALOGUE.serviceCodes),
    shards: gauge(CATALOGUE.shards),
    shardIndex: gauge(CATALOGUE.shardIndex),
    buildInfo: gauge(CATALOGUE.buildInfo),
    configLastReloadSuccessful: gauge(CATALOGUE.configLastReloadSuccessful),
    configLastReloadSuccess: gauge(CATALOGUE.configLastReloadSuccess),
    stateWriteErrors: counter(CATALOGUE.stateWriteErrors),
    stateLastSuccess: gauge(CATALOGUE.stateLastSuccess),
    stateSize: gauge(CATALOGUE.stateSize),
  };
}
