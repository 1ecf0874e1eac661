import type { StaticLabels } from '../families/family.ts';
import { formatShard } from '../sharding/shard.ts';
import type { Configuration, ServiceCodeSettings } from './configuration.ts';
import type { LoadedConfiguration } from './configuration-source.ts';
import type { CodeFile } from './service-codes/code-files.ts';
import { listSettings, type Setting } from './settings.ts';
import type { SourceEntry } from './sources.ts';
import { formatDuration } from './units.ts';

/** The output of `--config.check`: settings with their origins, and service codes. Secrets are not shown. */
export function formatConfigurationSummary(loaded: LoadedConfiguration): string {
  const { configuration, settings, codeFiles } = loaded;
  const { serviceCodes } = configuration;
  const rows = listSettings().flatMap(([path, setting]): Row[] => {
    const origin = settings.origin(path);
    return origin === undefined ? [] : [[path, formatSetting(origin, setting), `(${origin.locate()})`]];
  });
  return [
    `The configuration is valid: ${formatCodeCount(configuration)}.`,
    '',
    'Settings that are not defaults:',
    ...formatTable(rows),
    ...(settings.get('service_code_files') === undefined ? [] : formatCodeFiles(codeFiles)),
    '',
    ...(serviceCodes.length === 0 ? ['Service codes: none.'] : formatCodes(serviceCodes)),
    '',
  ].join('\n');
}

function formatCodeCount({ serviceCodes, shard, codesOnOtherShards }: Configuration): string {
  const own = serviceCodes.length;
  const all = own + codesOnOtherShards.size;
  const codes = `service code${all === 1 ? '' : 's'}`;
  return shard.count === 1 ? `${all} ${codes}` : `${own} of ${all} ${codes}, for ${formatShard(shard)}`;
}

type Row = readonly string[];

function formatSetting({ path, raw }: SourceEntry, { excludedSource }: Setting): string {
  const parts: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  const text = parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(', ');
  if (excludedSource === 'flag') return maskSecret(text);
  // The list may contain secrets.
  return path === 'service_codes' ? 'listed below' : text;
}

function formatCodeFiles(files: readonly CodeFile[]): readonly string[] {
  if (files.length === 0) return ['', 'Service code files: none found.'];
  const rows = files.map(({ path, codes }) => [path, String(codes.length)]);
  return ['', 'Service code files:', ...formatTable([['file', 'service codes'], ...rows])];
}

/** The columns of the table of service codes. Those that are empty for all codes are left out. */
const CODE_COLUMNS: readonly (readonly [head: string, format: (code: ServiceCodeSettings) => string])[] = [
  ['service code', ({ serviceCode }) => serviceCode],
  ['base URL', ({ baseUrl }) => baseUrl],
  ['interval', ({ intervalMs }) => formatDuration(intervalMs)],
  ['timeout', ({ timeoutMs }) => formatDuration(timeoutMs)],
  ['stale after', ({ staleAfterMs }) => formatDuration(staleAfterMs)],
  ['stall after', ({ stallAfterMs }) => formatDuration(stallAfterMs)],
  ['secret', ({ secret }) => maskSecret(secret)],
  ['labels', ({ labels }) => formatLabels(labels)],
  ['task name', ({ taskName = '' }) => taskName],
  ['expected tasks', formatExpectation],
];

function formatCodes(codes: readonly ServiceCodeSettings[]): readonly string[] {
  const columns = CODE_COLUMNS.filter(([, format]) => codes.some((code) => format(code) !== ''));
  const rows = codes.map((code) => columns.map(([, format]) => format(code)));
  return ['Service codes:', ...formatTable([columns.map(([head]) => head), ...rows])];
}

function formatExpectation({ expectation }: ServiceCodeSettings): string {
  if (expectation === undefined) return '';
  const { tasks, names } = expectation;
  return names.length === 0 ? String(tasks) : `${tasks}: ${names.join(', ')}`;
}

function formatLabels(labels: StaticLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
}

function maskSecret(secret: string): string {
  return `<secret of ${Buffer.byteLength(secret)} bytes>`;
}

function formatTable(rows: readonly Row[]): string[] {
  // There may be more rows than a call can have arguments.
  const widths = (rows[0] ?? []).map((_, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0),
  );
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}
