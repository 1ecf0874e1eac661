import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Logger } from '../runtime/logger.ts';
import type { Family, FamilySpec, FamilyType, HistogramSample } from '../families/family.ts';

export interface RegistryMetric {
  readonly name: string;
  readonly help: string;
  /** A word, although prom-client declares a number. */
  readonly type: unknown;
  readonly values: readonly RegistryValue[];
}

interface RegistryValue {
  readonly value: number;
  readonly labels: RegistryLabels;
  /** Name of a histogram series, with the suffix `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

type RegistryLabels = Readonly<Record<string, string | number | undefined>>;

/** prom-client measures the event loop every 10 ms, which takes almost a hundredth of a core when idle. */
const EVENT_LOOP_PRECISION_MS = 100;

/** Percentiles and the like of measured intervals: each is the precision longer than the delay. */
const EVENT_LOOP_LAG = /^nodejs_eventloop_lag_(?:min|max|mean|p\d+)_seconds$/;

/**
 * The default metrics `process_*` and `nodejs_*`. Create them once per process: prom-client cannot stop their
 * observers of garbage collection and of the event loop, which do not keep the process alive.
 */
export class DefaultMetrics implements Disposable {
  readonly #logger: Pick<Logger, 'warn'>;
  readonly #registry: Registry;
  readonly #loggedNames = new Set<string>();

  /** The registry has the default content type: with that of OpenMetrics, prom-client renames counters. */
  constructor(logger: Pick<Logger, 'warn'>, registry = new Registry()) {
    this.#logger = logger;
    this.#registry = registry;
    collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS });
  }

  async collectFamilies(): Promise<readonly Family[]> {
    const metrics: readonly RegistryMetric[] = await this.#registry.getMetricsAsJSON();
    for (const { name, type } of metrics) if (!isFamilyType(type)) this.#logOnce(name, type);
    return metrics.flatMap((metric) => toDefaultFamily(metric) ?? []);
  }

  #logOnce(name: string, type: unknown): void {
    if (this.#loggedNames.has(name)) return;
    this.#loggedNames.add(name);
    this.#logger.warn({ metric: name, type }, 'Left out a default metric of an unknown type');
  }

  [Symbol.dispose](): void {
    this.#registry.clear();
  }
}

/**
 * `undefined` if the type is unknown, or if the name ends in `_total` although the metric is no counter:
 * promtool rejects that.
 */
export function toDefaultFamily({ name, help, values, ...metric }: RegistryMetric): Family | undefined {
  if (!isFamilyType(metric.type)) return undefined;
  const type = name.endsWith('_info') ? 'info' : metric.type;
  if (type !== 'counter' && name.endsWith('_total')) return undefined;
  const labels = new Set(values.flatMap((value) => Object.keys(value.labels)));
  labels.delete('le');
  const bounds = new Set(values.map((value) => Number(value.labels['le'] ?? Number.NaN)));
  const buckets = [...bounds].filter(Number.isFinite);
  const spec: FamilySpec = { name, type, help, labels: [...labels] };
  return toFamily(type === 'histogram' ? { ...spec, buckets } : spec, values);
}

function isFamilyType(type: unknown): type is Exclude<FamilyType, 'info'> {
  return type === 'gauge' || type === 'counter' || type === 'histogram';
}

function toFamily(spec: FamilySpec, values: readonly RegistryValue[]): Family {
  const toValues = (labels: RegistryLabels) => spec.labels.map((label) => String(labels[label] ?? ''));
  if (spec.type === 'histogram') {
    const samples = groupHistogramSeries(values).map((series): HistogramSample => {
      const selectValues = (suffix: string) =>
        series.filter(({ metricName }) => metricName?.endsWith(suffix)).map(({ value }) => value);
      const [sum = 0] = selectValues('_sum');
      return { labels: toValues(series[0]?.labels ?? {}), buckets: selectValues('_bucket'), sum };
    });
    return { spec, samples };
  }
  const excess = EVENT_LOOP_LAG.test(spec.name) ? EVENT_LOOP_PRECISION_MS / 1000 : 0;
  const labelSets = values.map(({ labels }) => toValues(labels));
  const numbers = values.map(({ value }) => (excess === 0 ? value : Math.max(0, value - excess)));
  return { spec, samples: { labelSets, numbers } };
}

/** Groups series by sample: prom-client lists the buckets, the sum and the count of each in this order. */
function groupHistogramSeries(values: readonly RegistryValue[]): readonly (readonly RegistryValue[])[] {
  const groups: RegistryValue[][] = [[]];
  for (const value of values) {
    groups.at(-1)?.push(value);
    if (value.metricName?.endsWith('_count') === true) groups.push([]);
  }
  return groups.slice(0, -1);
}
