import { ALERT_SERIES } from '../../deploy/grafana/source/queries.ts';
import { ExporterMetrics } from '../../src/metrics/exporter-metrics.ts';
import { CATALOGUE } from '../../src/metrics/catalogue.ts';
import type { FamilySpec } from '../../src/families/family.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { parseSelectors } from './promql.ts';

/** Labels that Prometheus, its operator or a federation adds to all series. */
const TARGET_LABELS = ['cluster', 'namespace', 'job', 'instance', 'pod'];

/** Labels of the series of alerts: those of the rules, and those that Prometheus adds. */
const ALERT_LABELS = ['alertname', 'alertstate', 'severity', 'cluster', 'namespace', 'service_code'];

/** The names of series in Prometheus, with their possible labels. */
export type KnownSeries = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Lists the series of a scraped exporter: the families of the catalogue, the process metrics, and those that
 * Prometheus adds to a scrape. Call it once per process, because it starts collecting the process metrics.
 */
export async function listKnownSeries(): Promise<KnownSeries> {
  using self = new ExporterMetrics({
    clock: systemClock,
    version: '',
    revision: '',
    nodeVersion: '',
  });
  const collected = (await self.collect(0)).map(({ spec }) => spec);
  const specs: readonly FamilySpec[] = [...Object.values(CATALOGUE), ...collected];
  return new Map([
    ...specs.flatMap((spec) => listSeries(spec)),
    ...['up', 'scrape_duration_seconds', 'scrape_samples_scraped'].map(
      // Targets of /sd have the label `service_code`.
      (name): [string, ReadonlySet<string>] => [name, new Set([...TARGET_LABELS, 'service_code'])],
    ),
    [ALERT_SERIES, new Set(ALERT_LABELS)],
  ]);
}

/** Lists the metrics and labels of an expression that do not exist. */
export function findUnknownNames(expression: string, known: KnownSeries): readonly string[] {
  return parseSelectors(expression).flatMap(({ metric, labels }) => {
    const its = known.get(metric);
    if (its === undefined) return [`no metric ${metric}`];
    return labels.filter((label) => !its.has(label)).map((label) => `no label ${label} on ${metric}`);
  });
}

function listSeries({ name, type, labels }: FamilySpec): [string, ReadonlySet<string>][] {
  const all = [...labels, ...TARGET_LABELS];
  if (type !== 'histogram') return [[name, new Set(all)]];
  return [
    // As a native histogram.
    [name, new Set(all)],
    [`${name}_bucket`, new Set([...all, 'le'])],
    [`${name}_sum`, new Set(all)],
    [`${name}_count`, new Set(all)],
  ];
}
