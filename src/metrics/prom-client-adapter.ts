import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Family, FamilySpec, FamilyType } from '../families/family.ts';

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
  /** It has the default content type: with that of OpenMetrics, prom-client renames counters. */
  readonly #registry = new Registry();

  constructor() {
    collectDefaultMetrics({
      register: this.#registry,
      eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION_MS,
    });
  }

  async collectFamilies(): Promise<readonly Family[]> {
    const metrics: readonly RegistryMetric[] = await this.#registry.getMetricsAsJSON();
    return metrics.flatMap((metric) => toDefaultFamily(metric) ?? []);
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
  const labels = [...new Set(values.flatMap((value) => Object.keys(value.labels)))].filter(
    (it) => it !== 'le',
  );
  const spec: FamilySpec = { name, type, help, labels };
  const toValues = (given: RegistryLabels) => labels.map((label) => String(given[label] ?? ''));
  if (type === 'histogram') {
    const select = (suffix: string) => values.filter(({ metricName }) => metricName === name + suffix);
    const counts = select('_bucket');
    const sums = select('_sum');
    // Each sum follows its buckets, of which the last one is that of +Inf.
    const size = counts.length / sums.length;
    const samples = sums.map(({ labels: given, value: sum }, index) => ({
      labels: toValues(given),
      buckets: counts.slice(index * size, (index + 1) * size).map(({ value }) => value),
      sum,
    }));
    const buckets = counts.slice(0, size - 1).map((count) => Number(count.labels['le']));
    return { spec: { ...spec, buckets }, samples };
  }
  const excess = EVENT_LOOP_LAG.test(name) ? EVENT_LOOP_PRECISION_MS / 1000 : 0;
  const numbers = values.map(({ value }) => (excess === 0 ? value : Math.max(0, value - excess)));
  return { spec, samples: { labelSets: values.map((value) => toValues(value.labels)), numbers } };
}

function isFamilyType(type: unknown): type is Exclude<FamilyType, 'info'> {
  return type === 'gauge' || type === 'counter' || type === 'histogram';
}
