import type { Family, FamilySpec, FamilyType, HistogramSample, PlainSample } from './family.ts';

/** A metric as prom-client gives it as JSON. Its types call `type` a number; it is a word. */
export interface RegistryMetric {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  readonly values: readonly RegistryValue[];
}

/** One series of it. */
export interface RegistryValue {
  readonly value: number;
  readonly labels: RegistryLabels;
  /** On the series of a histogram: its name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

type RegistryLabels = Readonly<Record<string, string | number | undefined>>;

/**
 * The series of a metric as a family of the catalogue. `created`: when its counters were made, in seconds since the Unix
 * epoch, where that is known.
 */
export function toFamily(spec: FamilySpec, values: readonly RegistryValue[], created?: number): Family {
  const labelsOf = (labels: RegistryLabels) => spec.labels.map((label) => String(labels[label] ?? ''));
  if (spec.type === 'histogram') {
    return { spec, samples: histogramPoints(values).map((point) => toHistogramSample(point, labelsOf)) };
  }
  const birth = spec.type === 'counter' && created !== undefined ? { created } : {};
  const samples = values.map(({ labels, value }): PlainSample => ({
    labels: labelsOf(labels),
    value,
    ...birth,
  }));
  return { spec, samples };
}

/**
 * A default metric of the registry as a family of its own spec; `undefined` where its name breaks the rule
 * of promtool that only counters end in `_total`.
 */
export function toDefaultFamily({ name, help, values, ...metric }: RegistryMetric): Family | undefined {
  const type = name.endsWith('_info') ? 'info' : familyType(metric.type);
  if (type !== 'counter' && name.endsWith('_total')) return undefined;
  const labels = new Set(values.flatMap((value) => Object.keys(value.labels)));
  labels.delete('le');
  const bounds = new Set(values.map((value) => Number(value.labels['le'] ?? Number.NaN)));
  const buckets = [...bounds].filter(Number.isFinite);
  const spec: FamilySpec = { name, type, help, labels: [...labels] };
  return toFamily(type === 'histogram' ? { ...spec, buckets } : spec, values);
}

function familyType(type: unknown): FamilyType {
  if (type === 'gauge' || type === 'counter' || type === 'histogram') return type;
  throw new TypeError(`Expected a gauge, a counter or a histogram in the registry, found ${String(type)}`);
}

/** The series of one point: prom-client gives them one after the other, the sum after the buckets, the count last. */
type HistogramPoint = readonly RegistryValue[];

function histogramPoints(values: readonly RegistryValue[]): readonly HistogramPoint[] {
  const points: RegistryValue[][] = [[]];
  for (const value of values) {
    points.at(-1)?.push(value);
    if (value.metricName?.endsWith('_count') === true) points.push([]);
  }
  return points.slice(0, -1);
}

function toHistogramSample(
  point: HistogramPoint,
  labelsOf: (labels: RegistryLabels) => readonly string[],
): HistogramSample {
  const labels = point[0]?.labels ?? {};
  const valuesOf = (suffix: string) =>
    point.filter(({ metricName }) => metricName?.endsWith(suffix)).map(({ value }) => value);
  const [sum = 0] = valuesOf('_sum');
  return { labels: labelsOf(labels), buckets: valuesOf('_bucket'), sum };
}
