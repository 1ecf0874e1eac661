import { POLL_ERROR_REASONS, type PollErrorReason } from '../../src/upstream/errors.ts';
import { parseExposition } from './exposition-parser.ts';

/** Sample values by series in text form: the name, then the labels in braces. */
export type Series = ReadonlyMap<string, number>;

/** Parses an exposition in the text format strictly. */
export function parseSeries(text: string): Series {
  const { families } = parseExposition(text, 'text');
  return new Map(
    [...families.values()]
      .flatMap(({ samples }) => samples)
      .map(({ name, labels, value }) => [formatSeries(name, labels), value]),
  );
}

function formatSeries(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(',')}}`;
}

/** Selects the series of a service code whose names begin with `prefix`. */
export function selectSeries(series: Series, prefix: string, serviceCode: string): Series {
  const code = `{service_code="${serviceCode}"`;
  return new Map([...series].filter(([name]) => name.startsWith(prefix) && name.includes(code)));
}

/**
 * Selects the series of a service code that change only with a successful poll, and are not about the
 * exporter.
 */
export function selectListingSeries(series: Series, serviceCode: string): Series {
  const all = selectSeries(series, 'xvs_', serviceCode);
  return new Map([...all].filter(([name]) => !/^xvs_(?:exporter_|(?:up|ret)\{)/.test(name)));
}

/** Returns the value of a family with one series per service code. */
export function readValue(series: Series, family: string, serviceCode: string): number | undefined {
  return series.get(`${family}{service_code="${serviceCode}"}`);
}

/** Sums the series of a family and a service code. */
export function sumSeries(series: Series, family: string, serviceCode: string): number {
  return [...selectSeries(series, `${family}{`, serviceCode).values()].reduce((sum, value) => sum + value, 0);
}

/** Computes the growth of the sum of a family and a service code between two expositions. */
export function computeGrowth(family: string, earlier: Series, later: Series, serviceCode: string): number {
  return sumSeries(later, family, serviceCode) - sumSeries(earlier, family, serviceCode);
}

/** Counts the failed polls of a service code between two expositions by reason. */
export function countFailures(
  earlier: Series,
  later: Series,
  serviceCode: string,
): Partial<Record<PollErrorReason, number>> {
  const counts = POLL_ERROR_REASONS.map((reason): [PollErrorReason, number] => {
    const name = `xvs_exporter_poll_errors_total{service_code="${serviceCode}",reason="${reason}"}`;
    const [was, is] = [earlier.get(name), later.get(name)];
    if (was === undefined || is === undefined) throw new Error(`Expected a series ${name}, found none`);
    return [reason, is - was];
  });
  return Object.fromEntries(counts.filter(([, count]) => count !== 0));
}
