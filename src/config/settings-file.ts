import { dirname } from 'node:path';
import type { Problem } from './config-error.ts';
import { describeKind, expectedFound, formatSuggestion, formatUnknown, formatValue } from './config-error.ts';
import { listSettingGroups } from './setting-groups.ts';
import { formatRemoved, isRemovedGroup, REMOVED_SETTINGS } from './removed-settings.ts';
import { isSettingPath, listSettings, toEnvironmentName, toFlagName } from './settings.ts';
import type { SourceEntry } from './sources.ts';
import type { ValuePath } from './validation.ts';
import type { YamlSource } from './yaml-source.ts';
import { parseYaml } from './yaml-source.ts';

/** The settings of a configuration file, and the mistakes in its structure. */
export interface SettingsFile {
  readonly entries: readonly SourceEntry[];
  readonly problems: readonly Problem[];
}

/** Reads the text of a configuration file at the path `file`. Values are not parsed yet. */
export function parseSettingsFile(text: string, file: string): SettingsFile {
  const source = parseYaml(text, file);
  if ('message' in source) return { entries: [], problems: [source] };
  return readGroup(source, file, source.value, []);
}

function readGroup(source: YamlSource, file: string, value: unknown, path: readonly string[]): SettingsFile {
  // An empty file, or a group with all its settings commented out.
  if (value === null || value === undefined) return { entries: [], problems: [] };
  if (typeof value !== 'object' || Array.isArray(value)) {
    // The value is not shown: a string in the wrong place may be a secret.
    const message = expectedFound('a mapping of settings', describeKind(value));
    return { entries: [], problems: [{ location: createLocator(source, path)(), message }] };
  }
  const parts = Object.entries(value).map(([key, child]) => readKey(source, file, child, [...path, key]));
  return {
    entries: parts.flatMap(({ entries }) => entries),
    problems: parts.flatMap(({ problems }) => problems),
  };
}

function readKey(source: YamlSource, file: string, value: unknown, path: readonly string[]): SettingsFile {
  const dotted = path.join('.');
  const known = FILE_KEYS;
  const locate = createLocator(source, path);
  if (isSettingPath(dotted) && known.includes(dotted) && path.length === dotted.split('.').length)
    return { entries: [{ path: dotted, raw: value, folder: dirname(file), locate }], problems: [] };
  const isGroup =
    !path.some((key) => key.includes('.')) &&
    (known.some((key) => key.startsWith(`${dotted}.`)) || isRemovedGroup(dotted));
  if (isGroup) return readGroup(source, file, value, path);
  const replacement = REMOVED_SETTINGS.get(dotted);
  if (replacement !== undefined)
    return { entries: [], problems: [{ location: locate(), message: formatRemoved(replacement) }] };
  const suggestion = suggestKey(path, known);
  const found = formatUnknown(path.at(-1) ?? '', suggestion);
  const message = expectedFound('a known key', found, suggestion);
  return { entries: [], problems: [{ location: locate([], true), message }] };
}

function suggestKey(path: readonly string[], known: readonly string[]): string | undefined {
  const [key = ''] = path;
  const dotted = path.join('.');
  // Only the configuration file's own path is no key.
  if (path.length > 1 && isSettingPath(dotted))
    return `set ${toEnvironmentName(dotted)} or ${toFlagName(dotted)} instead`;
  const [group, rest] = key.split('.');
  if (path.length === 1 && rest !== undefined && known.includes(key))
    return `write ${rest} in the mapping ${group}`;
  const homes = listHomes(path.at(-1) ?? '', known);
  if (homes.length > 0) return `write it ${homes.join(' or ')}; check the indentation`;
  const siblings = new Set(known.flatMap((candidate) => findSibling(candidate, path)));
  return formatSuggestion(path.at(-1) ?? '', [...siblings]);
}

const FILE_KEYS: readonly string[] = listSettings().flatMap(([path, { excludedSource }]) =>
  excludedSource === 'file' ? [] : [path],
);

/** Where else a key belongs, if it is known there. */
function listHomes(key: string, known: readonly string[]): readonly string[] {
  return listSettingGroups()
    .filter(({ name }) => known.includes(name === '' ? key : `${name}.${key}`))
    .map(({ name }) => (name === '' ? 'at the top level' : `in the mapping ${name}`));
}

/** The part of a known key that could replace the last step of the path. */
function findSibling(key: string, path: readonly string[]): readonly string[] {
  const steps = key.split('.');
  const step = steps[path.length - 1];
  return step !== undefined && path.slice(0, -1).every((own, depth) => own === steps[depth]) ? [step] : [];
}

/** Locates parts of a source below `path`: `/etc/xvs.yml:7:13 poll.interval`. */
export function createLocator(source: YamlSource, path: readonly string[]) {
  return (inner: ValuePath = [], isKey = false): string => {
    const full = [...path, ...inner];
    const named = isKey ? full.slice(0, -1) : full;
    const name = named.reduce<string>((text, step) => text + formatPathStep(step, text), '');
    return `${source.locate(full, isKey)} ${name}`.trimEnd();
  };
}

function formatPathStep(step: string | number, before: string): string {
  if (typeof step === 'number') return `[${step}]`;
  const word = /^[\w.-]+$/.test(step) ? step : formatValue(step);
  return before === '' ? word : `.${word}`;
}
