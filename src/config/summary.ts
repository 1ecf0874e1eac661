import type { StaticLabels } from '../metrics/catalogue/family.ts';
import { formatShard } from '../sharding/shard.ts';
import type { Expectation } from '../tally/expectations.ts';
import { describeKind } from './config-error.ts';
import type { Configuration, ServiceCodeSettings } from './configuration.ts';
import type { LoadResult } from './loader.ts';
import type { CodeFile } from './service-codes/code-files.ts';
import { listSettingGroups } from './settings.ts';
import { listSettings, type Setting, type SettingPath } from './settings.ts';
import type { MergedSettings } from './sources.ts';
import { formatDuration } from './units.ts';

/**
 * Formats the output of `--config.check` for a valid configuration: every setting with its value and origin, the
 * service codes with their effective settings, and the proxies. Secrets and passwords are not shown.
 */
export function formatSummary({ configuration, settings, codeFiles }: LoadResult): string {
  const { serviceCodes, upstream } = configuration;
  return [
    `The configuration is valid: ${formatCodeCount(configuration)}.`,
    ...formatSettings(settings),
    ...(settings.get('service_code_files') === undefined ? [] : formatCodeFiles(codeFiles)),
    '',
    ...(serviceCodes.length === 0 ? ['Service codes: none.'] : formatCodes(serviceCodes)),
    ...formatProxies(upstream.proxy),
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

/** Formats the settings by group, with the same column widths in all groups. */
function formatSettings(settings: MergedSettings): readonly string[] {
  const rows = formatTable(
    listSettings().map(([path, setting]) => formatSettingRow(path, setting, settings)),
  );
  const lines = new Map(listSettings().map(([path], index) => [path, rows[index] ?? '']));
  return listSettingGroups().flatMap((group) => [
    '',
    `${group.title}:`,
    ...group.settings.map(([path]) => lines.get(path) ?? ''),
  ]);
}

function formatSettingRow(path: SettingPath, setting: Setting, settings: MergedSettings): Row {
  const fallback = setting.default === undefined ? 'not set' : 'default';
  const value = formatSettingValue(path, setting, settings);
  return [path, value, `(${settings.origin(path)?.locate() ?? fallback})`];
}

function formatSettingValue(path: SettingPath, { isSecret }: Setting, settings: MergedSettings): string {
  const raw = settings.raw(path);
  if (raw === undefined) return '–';
  if (isSecret === true) return maskSecret(formatPart(raw));
  // The list may contain secrets.
  if (path === 'service_codes') return `${settings.get('service_codes')?.length ?? 0}, listed below`;
  const parts: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  return parts.map(formatPart).join(', ');
}

function formatPart(raw: unknown): string {
  if (typeof raw === 'string') return raw;
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : describeKind(raw);
}

function formatCodeFiles(files: readonly CodeFile[]): readonly string[] {
  if (files.length === 0) return ['', 'Service code files: none found.'];
  const rows = files.map(({ path, codes }) => [path, String(codes.length)]);
  return ['', 'Service code files:', ...formatTable([['file', 'service codes'], ...rows])];
}

const CODE_TABLE_HEADER: Row = [
  'service code',
  'base URL',
  'interval',
  'timeout',
  'stale after',
  'stall after',
  'secret',
];

/** Formats the service codes, with columns of labels, sources of names and expectations if any code has them. */
function formatCodes(codes: readonly ServiceCodeSettings[]): readonly string[] {
  const optional: readonly Row[] = [
    ['labels', ...codes.map(({ labels }) => formatLabels(labels))],
    ['task name', ...codes.map(({ taskName = '' }) => taskName)],
    ['expected tasks', ...codes.map(({ expectation }) => formatExpectation(expectation))],
  ];
  const columns = optional.filter((column) => column.some((cell, row) => row > 0 && cell !== ''));
  const rows = [CODE_TABLE_HEADER, ...codes.map(formatCodeRow)];
  return [
    'Service codes:',
    ...formatTable(rows.map((row, at) => [...row, ...columns.map((column) => column[at] ?? '')])),
  ];
}

function formatExpectation(expectation: Expectation | undefined): string {
  if (expectation === undefined) return '';
  const { tasks, names } = expectation;
  return names.length === 0 ? String(tasks) : `${tasks}: ${names.join(', ')}`;
}

function formatCodeRow(code: ServiceCodeSettings): Row {
  const { serviceCode, baseUrl, intervalMs, timeoutMs, staleAfterMs, stallAfterMs, secret } = code;
  const durations = [intervalMs, timeoutMs, staleAfterMs, stallAfterMs].map(formatDuration);
  return [serviceCode, baseUrl, ...durations, maskSecret(secret)];
}

function formatLabels(labels: StaticLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
}

function maskSecret(secret: string): string {
  return `<secret of ${Buffer.byteLength(secret)} bytes>`;
}

function formatProxies({
  httpProxy,
  httpsProxy,
  noProxy,
}: Configuration['upstream']['proxy']): readonly string[] {
  const rows: Row[] = [
    ...(httpProxy === undefined ? [] : [['http_proxy', new URL(httpProxy).host]]),
    ...(httpsProxy === undefined ? [] : [['https_proxy', new URL(httpsProxy).host]]),
    ...(noProxy === undefined ? [] : [['no_proxy', noProxy]]),
  ];
  return rows.length === 0 ? [] : ['', 'Proxies from the environment:', ...formatTable(rows)];
}

/** Formats lines with columns as wide as their widest cell. */
function formatTable(rows: readonly Row[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => measureColumn(rows, column));
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}

/** Not `Math.max(...)`: there may be more rows than a call can have arguments. */
function measureColumn(rows: readonly Row[], column: number): number {
  return rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0);
}
