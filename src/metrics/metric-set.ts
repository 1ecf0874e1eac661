import { Counter, Gauge } from 'prom-client';
import type { Family, FamilySpec } from './family.ts';
import { toFamily } from './registry-families.ts';

interface OwnMetric {
  readonly spec: FamilySpec;
  readonly metric: Counter | Gauge;
}

/** Metrics of prom-client, each made from its entry of the catalogue. They are in no registry. */
export class MetricSet {
  readonly #own: OwnMetric[] = [];

  gauge(spec: FamilySpec): Gauge {
    return this.#add(spec, new Gauge(configuration(spec)));
  }

  counter(spec: FamilySpec): Counter {
    return this.#add(spec, new Counter(configuration(spec)));
  }

  /**
   * Its families as they are now, in the order in which they were made. `created`: when its counters were, in seconds since
   * the Unix epoch.
   */
  families(created: number | undefined): Promise<readonly Family[]> {
    return Promise.all(
      this.#own.map(async ({ spec, metric }) => toFamily(spec, (await metric.get()).values, created)),
    );
  }

  #add<M extends OwnMetric['metric']>(spec: FamilySpec, metric: M): M {
    this.#own.push({ spec, metric });
    return metric;
  }
}

function configuration({ name, help, labels }: FamilySpec) {
  return { name, help, labelNames: labels, registers: [] };
}
