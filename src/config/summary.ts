import { nameOf } from '../sharding/shard.ts';
import type { StaticLabels } from '../metrics/family.ts';
import type { CodeFile } from './code-lists.ts';
import type { Configuration, ServiceCodeSettings } from './configuration.ts';
import { secretText } from './format.ts';
import { settingGroups } from './groups.ts';
import type { Merged } from './layers.ts';
import type { Loaded } from './loading.ts';
import { kindOf } from './problem.ts';
import type { SettingPath } from './settings.ts';
import { SETTINGS, settingEntries } from './settings.ts';
import { formatDuration } from './units.ts';

/**
 * What `--config.check` prints of a good configuration: every setting with its value and where it came from,
 * the service codes with all that holds for each, the proxies. No secret, no password.
 */
export function summary({ configuration, settings, codeFiles }: Loaded): string {
  const { serviceCodes, upstream } = configuration;
  return [
    `The configuration is valid: ${numberOfCodes(configuration)}.`,
    ...settingSections(settings),
    ...(settings.find('service_code_files') === undefined ? [] : fileSection(codeFiles)),
    '',
    ...(serviceCodes.length === 0 ? ['Service codes: none.'] : codeSection(serviceCodes)),
    ...proxySection(upstream.proxy),
    '',
  ].join('\n');
}

function numberOfCodes({ serviceCodes, shard, elsewhere }: Configuration): string {
  const own = serviceCodes.length;
  const all = own + elsewhere.size;
  const codes = `service code${all === 1 ? '' : 's'}`;
  return shard.count === 1 ? `${all} ${codes}` : `${own} of ${all} ${codes}, those of ${nameOf(shard)}`;
}

/** A cell for each column. */
type Row = readonly string[];

/** In groups, the columns as wide everywhere. */
function settingSections(settings: Merged): readonly string[] {
  const rows = table(settingEntries().map(([path]) => settingRow(path, settings)));
  const lines = new Map(settingEntries().map(([path], index) => [path, rows[index] ?? '']));
  return settingGroups().flatMap((group) => [
    '',
    `${group.title}:`,
    ...group.settings.map(([path]) => lines.get(path) ?? ''),
  ]);
}

function settingRow(path: SettingPath, settings: Merged): Row {
  const without = SETTINGS[path].default === undefined ? 'not set' : 'default';
  return [path, shownValue(path, settings), `(${settings.origin(path)?.place() ?? without})`];
}

function shownValue(path: SettingPath, settings: Merged): string {
  const raw = settings.raw(path);
  if (raw === undefined) return '–';
  if (SETTINGS[path].format === secretText) return masked(shownPart(raw));
  // The list may hold secrets; it is told below, code by code.
  if (path === 'service_codes') return `${settings.find('service_codes')?.length ?? 0} of them, see below`;
  const parts: readonly unknown[] = Array.isArray(raw) ? raw : [raw];
  return parts.map(shownPart).join(', ');
}

function shownPart(raw: unknown): string {
  if (typeof raw === 'string') return raw;
  return typeof raw === 'number' || typeof raw === 'boolean' ? String(raw) : kindOf(raw);
}

/** How many codes come from each file that there is. */
function fileSection(files: readonly CodeFile[]): readonly string[] {
  if (files.length === 0) return ['', 'Files of service codes: none by now.'];
  const rows = files.map(({ file, codes }) => [file, String(codes.length)]);
  return ['', 'Files of service codes:', ...table([['file', 'service codes'], ...rows])];
}

const CODE_HEAD: Row = [
  'service code',
  'base URL',
  'interval',
  'timeout',
  'stale after',
  'stall after',
  'secret',
];

/** With a column of labels where some code has any. */
function codeSection(codes: readonly ServiceCodeSettings[]): readonly string[] {
  const rows = [CODE_HEAD, ...codes.map(codeRow)];
  const labels = ['labels', ...codes.map((code) => shownLabels(code.labels))];
  const hasLabels = labels.some((shown, index) => index > 0 && shown !== '');
  return ['Service codes:', ...table(hasLabels ? rows.map((row, at) => [...row, labels[at] ?? '']) : rows)];
}

function codeRow(code: ServiceCodeSettings): Row {
  const { serviceCode, baseUrl, intervalMs, timeoutMs, staleAfterMs, stallAfterMs, secret } = code;
  const durations = [intervalMs, timeoutMs, staleAfterMs, stallAfterMs].map(formatDuration);
  return [serviceCode, baseUrl, ...durations, masked(secret)];
}

function shownLabels(labels: StaticLabels): string {
  return Object.entries(labels)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
    .join(' ');
}

/** A secret as it may be shown. */
function masked(secret: string): string {
  return `<secret of ${Buffer.byteLength(secret)} bytes>`;
}

function proxySection({
  httpProxy,
  httpsProxy,
  noProxy,
}: Configuration['upstream']['proxy']): readonly string[] {
  const rows: Row[] = [
    ...(httpProxy === undefined ? [] : [['http_proxy', new URL(httpProxy).host]]),
    ...(httpsProxy === undefined ? [] : [['https_proxy', new URL(httpsProxy).host]]),
    ...(noProxy === undefined ? [] : [['no_proxy', noProxy]]),
  ];
  return rows.length === 0 ? [] : ['', 'Proxies, from the environment:', ...table(rows)];
}

/** Lines whose columns are as wide as their widest cell. */
function table(rows: readonly Row[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => widest(rows, column));
  return rows.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')}`.trimEnd(),
  );
}

/** Not by spreading: there may be more rows than a call can have arguments. */
function widest(rows: readonly Row[], column: number): number {
  return rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), 0);
}
