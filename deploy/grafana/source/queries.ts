import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import type { FamilySpec } from '../../../src/metrics/family.ts';

/** The variables that a dashboard filters by, beside `job` and `instance`, which are in every selector. */
export type Filter = 'service_code' | 'vs_id' | 'task_id';

/**
 * PromQL over the families of the catalogue: names and labels are read from there, so that an expression cannot
 * ask for what is not exposed. Nothing depends on recording rules: whoever has not loaded them sees the same.
 */
export interface Queries {
  /** The bare selector of a family, with further matchers if wanted. */
  select(family: FamilySpec, ...matchers: readonly string[]): string;
  /** The selector of a metric that is not in the catalogue, such as `up` or those of prom-client. */
  selectNamed(name: string, ...matchers: readonly string[]): string;
  /** What the last listing said. */
  last(family: FamilySpec, ...matchers: readonly string[]): string;
  /**
   * How fast a counter of the service grows, per second. Nothing while the polls of its service code fail: the counter
   * stands still then because nobody knows better, and a rate of 0 would be an error that looks like a figure.
   */
  rate(family: FamilySpec, ...matchers: readonly string[]): string;
  /** How fast a counter of the exporter about itself grows, per second: that of each replica. */
  ownRate(family: FamilySpec, ...matchers: readonly string[]): string;
  /** A quantile of a histogram, per `labels`. */
  quantile(quantile: number, family: FamilySpec, labels?: readonly string[]): string;
}

/** Every range is this one: Grafana makes it four scrape intervals at least, wide enough for `rate`. */
const RANGE = '[$__rate_interval]';

/**
 * Queries whose selectors carry the variables of one dashboard.
 *
 * Two exporters may poll the same service codes. Both then expose the same listing, and a plain `sum` would double
 * every user and byte. `max by` with all of the family's own labels leaves one series for each thing that the service
 * knows, whatever labels a scrape has put on top (instance, pod, job, node, …: `max without` would have to list them
 * all). Where the replicas' listings are a moment apart, the greater one counts. The same holds for rates, which are
 * alike even though the counters began at different moments.
 *
 * Metrics that an exporter has about itself are no copies of one another: those are summed, or shown by instance.
 */
export function queriesOf(filters: readonly Filter[]): Queries {
  const selectNamed = (name: string, ...matchers: readonly string[]): string =>
    `${name}{${['job=~"$job"', 'instance=~"$instance"', ...matchers].join(', ')}}`;
  const select = (family: FamilySpec, ...matchers: readonly string[]): string =>
    selectNamed(family.name, ...matchersOf(family, filters), ...matchers);
  const once = ({ labels }: FamilySpec, expression: string): string =>
    `max by (${labels.join(', ')}) (${expression})`;
  return {
    select,
    selectNamed,
    last: (family, ...matchers) => once(family, select(family, ...matchers)),
    rate: (family, ...matchers) => {
      const rate = once(family, `rate(${select(family, ...matchers)}${RANGE})`);
      return `(${rate} and on (service_code) ${select(CATALOGUE.up)} == 1)`;
    },
    ownRate: (family, ...matchers) => `rate(${select(family, ...matchers)}${RANGE})`,
    quantile: (quantile, family, labels = []) => {
      const buckets = selectNamed(`${family.name}_bucket`, ...matchersOf(family, filters));
      return `histogram_quantile(${quantile}, ${sum(['le', ...labels], `rate(${buckets}${RANGE})`)})`;
    },
  };
}

function matchersOf({ labels }: FamilySpec, filters: readonly Filter[]): readonly string[] {
  return filters.filter((filter) => labels.includes(filter)).map((filter) => `${filter}=~"$${filter}"`);
}

/** A sum, of everything where no labels are to be kept. */
export function sum(labels: readonly string[], expression: string): string {
  return labels.length === 0 ? `sum(${expression})` : `sum by (${labels.join(', ')}) (${expression})`;
}

/** The greatest, of everything where no labels are to be kept. */
export function max(labels: readonly string[], expression: string): string {
  return labels.length === 0 ? `max(${expression})` : `max by (${labels.join(', ')}) (${expression})`;
}

/** From bytes to bits, as networks and streams are measured. */
export function bits(bytes: string): string {
  return `8 * ${bytes}`;
}

/** From per second to per minute, for what happens seldom. */
export function perMinute(rate: string): string {
  return `60 * ${rate}`;
}

/** HLS is not metered by the service: its bytes and connections are always 0, and would spoil every ratio. */
export const METERED = 'format!="m3u8"';

/** For the description of every panel that `METERED` is about. */
export const HLS_NOTE = 'HLS (m3u8) is left out: the service does not meter it and always reports 0.';

/** For panels of bytes: it is no mistake of the chart. */
export const CATCH_UP_NOTE = 'After failed polls, what was moved meanwhile is added at once.';

/** Bits per second that tasks receive. */
export function ingress(q: Queries, labels: readonly string[]): string {
  return bits(sum(labels, q.rate(CATALOGUE.inputBytes)));
}

/** Bits per second that HTTP live output delivers. */
export function egress(q: Queries, labels: readonly string[]): string {
  return bits(sum(labels, q.rate(CATALOGUE.httpOutputBytes, METERED)));
}

/** Polls that failed, of all that were made, by all replicas. */
export function errorRatio(q: Queries, labels: readonly string[]): string {
  return `${sum(labels, q.ownRate(CATALOGUE.pollErrors))} / ${sum(labels, q.ownRate(CATALOGUE.polls))}`;
}
