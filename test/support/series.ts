import { POLL_ERROR_REASONS, type PollErrorReason } from '../../src/upstream/errors.ts';
import { parseExposition } from './exposition-parser.ts';

/** Values by series, as they stand in the text: name, labels in braces. */
export type Series = ReadonlyMap<string, number>;

/** Reads an exposition in text with the strict parser. */
export function parseSeries(text: string): Series {
  const { families } = parseExposition(text, 'text');
  return new Map(
    [...families.values()]
      .flatMap(({ samples }) => samples)
      .map(({ name, labels, value }) => [formatSeries(name, labels), value]),
  );
}

/** A series as it stands in the text. */
function formatSeries(name: string, labels: Readonly<Record<string, string>>): string {
  const pairs = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
  return `${name}{${pairs.join(',')}}`;
}

/** The series whose names begin with `prefix` and that belong to a service code. */
export function selectSeries(series: Series, prefix: string, serviceCode: string): Series {
  const code = `{service_code="${serviceCode}"`;
  return new Map([...series].filter(([name]) => name.startsWith(prefix) && name.includes(code)));
}

/** What the service says through the exporter, and not what the exporter says of itself. */
export function selectServiceSeries(series: Series, serviceCode: string): Series {
  const all = selectSeries(series, 'xvs_', serviceCode);
  return new Map([...all].filter(([name]) => !name.startsWith('xvs_exporter_')));
}

/** All that the last good listing and those before it say. */
export function selectListingSeries(series: Series, serviceCode: string): Series {
  const all = selectServiceSeries(series, serviceCode);
  return new Map([...all].filter(([name]) => !/^xvs_(?:up|ret)\{/.test(name)));
}

/** What accumulates between listings, but for single tasks, whose series go when the tasks do. */
export function selectCounterSeries(series: Series, serviceCode: string): Series {
  const all = selectServiceSeries(series, serviceCode);
  return new Map(
    [...all].filter(([name]) => /_(?:total|bucket|sum|count)\{/.test(name) && !/task_id=/.test(name)),
  );
}

/** The value of a family that has one series for each service code. */
export function readValue(series: Series, family: string, serviceCode: string): number | undefined {
  return series.get(`${family}{service_code="${serviceCode}"}`);
}

/** The sum over a family of a service code. */
export function sumSeries(series: Series, family: string, serviceCode: string): number {
  return [...selectSeries(series, `${family}{`, serviceCode).values()].reduce((sum, value) => sum + value, 0);
}

/** By how much a family of a service code grew from one reading to another. */
export function computeGrowth(family: string, earlier: Series, later: Series, serviceCode: string): number {
  return sumSeries(later, family, serviceCode) - sumSeries(earlier, family, serviceCode);
}

/** The reasons for which polls of a service code failed between two readings, and how often. */
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
