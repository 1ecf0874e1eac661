import { CATALOGUE } from '../../../src/metrics/catalogue.ts';
import type { FamilySpec } from '../../../src/families/family.ts';

/** Variables that every selector has. */
export const SCOPE = ['cluster', 'namespace', 'job', 'instance'];

/** Variables that a dashboard filters by, in addition to those of the scope. */
export type Filter = 'service_code' | 'vs_id' | 'task_id';

/**
 * PromQL over the families of the catalogue, which has their names and labels, so that an expression cannot
 * select what is not exposed. No expression depends on recording rules.
 */
export interface Queries {
  /** Returns the selector of a family. */
  select(family: FamilySpec, ...matchers: readonly string[]): string;
  /** Returns the selector of a metric outside the catalogue, such as `up` or those of prom-client. */
  selectNamed(name: string, ...matchers: readonly string[]): string;
  /** Returns the values of the last listing. */
  last(family: FamilySpec, ...matchers: readonly string[]): string;
  /**
   * Returns the rate of a counter of the service, per second. No value without a current listing, and without
   * a success within two intervals: the counter does not change then, and a rate of 0 would be wrong.
   */
  rate(family: FamilySpec, ...matchers: readonly string[]): string;
  /**
   * Returns how much a counter of the service grew in the time range of a panel. Prometheus may have no
   * sample at the start of the range, so the difference of two values would be the total of a lifetime.
   */
  increase(family: FamilySpec, ...matchers: readonly string[]): string;
  /** Returns the rate of a counter of the exporter itself, per second and replica. */
  ownRate(family: FamilySpec, ...matchers: readonly string[]): string;
  /** Returns a quantile of a histogram by `labels`. */
  quantile(quantile: number, family: FamilySpec, labels?: readonly string[]): string;
}

/** The series of alerts, which has no labels of a target. */
export const ALERT_SERIES = 'ALERTS';

/** At least four scrape intervals, enough for `rate`. */
const RANGE = '[$__rate_interval]';
/**
 * Of rates at the end of the time range, because `$__rate_interval` grows with it: the longest poll interval
 * in seconds.
 */
const MAX_INTERVALS = { '2m': 60, '5m': 120 } as const;
/** Of rates of codes that are polled less often. */
const SLOW_RANGE = '[1h]';

export const ON_CODE = 'on (cluster, namespace, service_code)';

/** Labels whose values two clusters or namespaces may share. Aggregations by them keep both apart. */
export const SHARED_LABELS: ReadonlySet<string> = new Set(['instance', 'service_code', 'task_id', 'vs_id']);

/** Aggregates by the labels that keep clusters and namespaces apart. */
export const BY_SCOPE = 'by (cluster, namespace)';
/** Their part of a legend. Grafana puts nothing for a label that a series does not have. */
export const OF_SCOPE = '{{namespace}} {{cluster}}';

/**
 * Creates queries whose selectors contain the variables of a dashboard, over time or, for stats and tables,
 * at its end.
 *
 * If two exporters poll the same service codes, both expose the same listing, and a plain `sum` would double
 * every user and byte. `max by` all labels of the family leaves one series for each, whatever labels a scrape
 * adds (instance, pod, job, node, …: `max without` would have to list them). If the listings of the replicas
 * differ in time, the larger value counts. The same holds for rates, which are equal although the counters
 * started at different times.
 *
 * Metrics of an exporter about itself are not copies: they are summed, or shown by instance.
 */
export function createQueries(
  filters: readonly Filter[],
  { window }: { readonly window?: keyof typeof MAX_INTERVALS } = {},
): Queries {
  const range = window === undefined ? RANGE : `[${window}]`;
  const selectNamed = (name: string, ...matchers: readonly string[]): string =>
    `${name}{${[...SCOPE.map(formatMatcher), ...matchers].join(', ')}}`;
  const select = (family: FamilySpec, ...matchers: readonly string[]): string =>
    selectNamed(family.name, ...createMatchers(family, filters), ...matchers);
  const once = ({ labels }: FamilySpec, expression: string): string => max(labels, expression);
  /**
   * Over the range of the panel; at the end of the time range, over a longer one for codes that are polled
   * rarely.
   */
  const overRange = (over: (period: string) => string): string =>
    window === undefined
      ? over(range)
      : `(${over(SLOW_RANGE)} and ${ON_CODE} ${select(CATALOGUE.pollInterval)} > ${MAX_INTERVALS[window]} or ${over(range)})`;
  return {
    select,
    selectNamed,
    last: (family, ...matchers) => once(family, select(family, ...matchers)),
    rate: (family, ...matchers) => {
      const rates = overRange((period) => once(family, `rate(${select(family, ...matchers)}${period})`));
      const [lastPoll, lastSuccess] = [select(CATALOGUE.lastPoll), select(CATALOGUE.lastSuccess)];
      const isRecent = `${lastPoll} - ${lastSuccess} <= 2 * ${select(CATALOGUE.pollInterval)}`;
      return `(${rates} and ${ON_CODE} ${select(CATALOGUE.listingTasks)} and ${ON_CODE} ${isRecent})`;
    },
    increase: (family, ...matchers) => {
      const over = (pod: string): string => `increase(${select(family, ...matchers, pod)}[$__range])`;
      // A pod that is recreated has a new address, and goes on with its counters.
      const ofPods = sum([...family.labels, 'job', 'pod'], over('pod!=""'));
      return `(${once(family, ofPods)} or ${once(family, over('pod=""'))})`;
    },
    ownRate: (family, ...matchers) => overRange((period) => `rate(${select(family, ...matchers)}${period})`),
    quantile: (quantile, family, labels = []) => {
      const [classic, native] = [`${family.name}_bucket`, family.name].map((name) =>
        selectNamed(name, ...createMatchers(family, filters)),
      );
      const ofClassic = sum(['le', ...labels], `rate(${classic}${range})`);
      const ofNative = sum(labels, `rate(${native}${range})`);
      return `histogram_quantile(${quantile}, ${ofClassic}) or histogram_quantile(${quantile}, ${ofNative})`;
    },
  };
}

function createMatchers({ labels }: FamilySpec, filters: readonly Filter[]): readonly string[] {
  return filters.filter((filter) => labels.includes(filter)).map(formatMatcher);
}

/** Formats the matcher of a label by the variable of the same name. */
export function formatMatcher(name: string): string {
  return `${name}=~"$${name}"`;
}

/**
 * Aggregates by labels, or over everything without labels. If two clusters or namespaces may share the values
 * of a label, the labels `cluster` and `namespace` are kept too; they are absent where series have none.
 */
function aggregate(operator: string, labels: readonly string[], expression: string): string {
  return labels.length === 0
    ? `${operator}(${expression})`
    : `${operator} by (${listScoped(labels)}) (${expression})`;
}

/** Formats a join on labels. */
export function onLabels(labels: readonly string[]): string {
  return `on (${listScoped(labels)})`;
}

function listScoped(labels: readonly string[]): string {
  const scope = labels.some((label) => SHARED_LABELS.has(label)) ? ['cluster', 'namespace'] : [];
  return [...scope, ...labels].join(', ');
}

/** The legend of series by a label whose values two clusters or namespaces may share. */
export function legendOf(label: string): string {
  return `{{${label}}} ${OF_SCOPE}`;
}

/** Sums by labels, or over everything without labels. */
export function sum(labels: readonly string[], expression: string): string {
  return aggregate('sum', labels, expression);
}

/** Takes the maximum by labels, or over everything without labels. */
export function max(labels: readonly string[], expression: string): string {
  return aggregate('max', labels, expression);
}

/** Takes the minimum by labels, or over everything without labels. */
export function min(labels: readonly string[], expression: string): string {
  return aggregate('min', labels, expression);
}

/**
 * The label sets of a gauge that was 0 at some time in the time range, on each replica that has it. At most
 * 50.
 */
export function wasDown(labels: readonly string[], selector: string): string {
  return `topk(50, 1 - ${max(labels, `min_over_time(${selector}[$__range] @ end())`)} > 0)`;
}

/**
 * The series with the labels of the twenty largest over the time range, of the same or another expression.
 * Those of a plain `topk` would change from step to step.
 */
export function largest(labels: readonly string[], expression: string, of = expression): string {
  return `(${expression}) and ${isLargest(labels, of)}`;
}

/** The sum of all series but the twenty largest. */
export function others(labels: readonly string[], expression: string): string {
  return `sum((${expression}) unless ${isLargest(labels, expression)})`;
}

/**
 * The resolution grows with the time range: a month of 2,000 codes a minute would be more samples than
 * Prometheus loads.
 */
function isLargest(labels: readonly string[], expression: string): string {
  const mean = `avg_over_time((${expression})[$__range:$__rate_interval] @ end())`;
  return `${onLabels(labels)} topk(20, ${mean})`;
}

export function bits(bytes: string): string {
  return `8 * ${bytes}`;
}

export function perMinute(rate: string): string {
  return `60 * ${rate}`;
}

/** Minutes, of which an axis has whole ones; seconds would be "4.17 mins". */
export function inMinutes(seconds: string): string {
  return `(${seconds}) / 60`;
}

export function inDays(seconds: string): string {
  return `(${seconds}) / 86400`;
}

/** The service does not meter HLS: its bytes and connections are always 0 and would distort ratios. */
export const METERED = 'format!="m3u8"';

/** For the description of panels that use `METERED`. */
export const HLS_NOTE = 'HLS (m3u8) is excluded: the service does not meter it and always reports 0.';

/** For the description of rates of bytes: explains peaks. */
export const CATCH_UP_NOTE = 'The first interval after an outage has all its bytes.';

/** For the description of rates at the end of the time range. */
export const NOW_NOTE =
  'Rates are of the last 5 minutes; of the last hour for a code that is polled less often than every 2 minutes.';

/** Input of tasks in bits per second. */
export function ingress(q: Queries, labels: readonly string[]): string {
  return bits(sum(labels, q.rate(CATALOGUE.inputBytes)));
}

/** HTTP live output in bits per second. */
export function egress(q: Queries, labels: readonly string[]): string {
  return bits(sum(labels, q.rate(CATALOGUE.httpOutputBytes, METERED)));
}

/**
 * Servers with users or tasks; 0 where a listing has none. Over all codes, a server of several codes counts
 * once.
 */
export function countServers(q: Queries, labels: readonly string[]): string {
  const load = `${q.select(CATALOGUE.tasks, 'vs_id!~"__other__|unknown"')} + ${q.select(CATALOGUE.serverOnlineUsers)}`;
  const servers = `${max([...labels, 'vs_id'], load)} > 0`;
  return `${aggregate('count', labels, servers)} or 0 * ${sum(labels, q.last(CATALOGUE.listingTasks))}`;
}

/** Share of failed polls, over all replicas; no value without polls. */
export function errorRatio(q: Queries, labels: readonly string[]): string {
  return `${sum(labels, q.ownRate(CATALOGUE.pollErrors))} / (${sum(labels, q.ownRate(CATALOGUE.polls))} > 0)`;
}
