import { dirname } from 'node:path';
import { z } from 'zod';
import { describeKind, formatSuggestion, type Problem } from './config-error.ts';
import { formatRemoved, REMOVED_SETTINGS } from './removed-settings.ts';
import {
  isSettingPath,
  listSettingGroups,
  listSettings,
  toEnvironmentName,
  toFlagName,
  type SettingPath,
} from './settings.ts';
import type { SourceEntry } from './sources.ts';
import { expected, reject, strictMapping, toProblems } from './validation.ts';
import { createLocator, parseYaml } from './yaml-source.ts';

/** The settings of a configuration file, and the mistakes in its structure. */
export interface SettingsFile {
  readonly entries: readonly SourceEntry[];
  readonly problems: readonly Problem[];
}

/** The keys of the file, with dots. */
export const FILE_KEYS: readonly SettingPath[] = listSettings().flatMap(([path, { excludedSource }]) =>
  excludedSource === 'file' ? [] : [path],
);

const GROUPS: readonly string[] = listSettingGroups().map(({ name }) => name);

/** Checks keys and mappings only: values are parsed together with those of the other sources. */
const FILE_STRUCTURE = buildFileSchema(
  new Map([
    ...FILE_KEYS.map((path) => [path, z.unknown()] as const),
    ...[...REMOVED_SETTINGS].map(([path, replacement]) => [path, rejectRemoved(replacement)] as const),
  ]),
);

/** Reads the text of a configuration file at the path `file`. Values are not parsed yet. */
export function parseSettingsFile(text: string, file: string): SettingsFile {
  const source = parseYaml(text, file);
  if ('message' in source) return { entries: [], problems: [source] };
  const checked = FILE_STRUCTURE.safeParse(source.value ?? null);
  const entries = FILE_KEYS.map((path) => {
    const steps = path.split('.');
    const raw = steps.reduce(readKey, source.value);
    return { path, raw, folder: dirname(file), locate: createLocator(source, steps) };
  });
  return {
    entries: entries.filter(({ raw }) => raw !== undefined),
    problems: checked.success ? [] : toProblems(checked.error, createLocator(source, [])),
  };
}

function readKey(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(key) : undefined;
}

/**
 * Builds the schema of a file from the schemas of its settings, by key. An empty file, or a mapping with all its settings
 * commented out, is `null`.
 */
export function buildFileSchema(settings: ReadonlyMap<string, z.ZodType>, prefix = ''): z.ZodType {
  const paths = [...settings.keys()].filter((path) => path.startsWith(prefix));
  const keys = new Set(paths.map((path) => path.slice(prefix.length).split('.')[0] ?? ''));
  const shape = Object.fromEntries(
    [...keys].map((key) => {
      const path = prefix + key;
      return [key, (settings.get(path) ?? buildFileSchema(settings, `${path}.`)).optional()];
    }),
  );
  // A value is not shown: a string in the wrong place may be a secret.
  return strictMapping(shape, expected('a mapping of settings', { show: describeKind }), {
    suggest: (key) => suggestKey(key, prefix),
  }).nullable();
}

function rejectRemoved(replacement: string): z.ZodType {
  return z.unknown().transform((_, context) => reject(context, formatRemoved(replacement)));
}

function suggestKey(key: string, prefix: string): string | undefined {
  const path = prefix + key;
  // Only the configuration file's own path is no key.
  if (prefix !== '' && isSettingPath(path))
    return `set ${toEnvironmentName(path)} or ${toFlagName(path)} instead`;
  const [group = '', rest] = key.split('.');
  if (prefix === '' && rest !== undefined && isFileKey(key)) return `write ${rest} in the mapping ${group}`;
  const homes = GROUPS.filter((name) => isFileKey(name === '' ? key : `${name}.${key}`)).map((name) =>
    name === '' ? 'at the top level' : `in the mapping ${name}`,
  );
  if (homes.length > 0) return `write it ${homes.join(' or ')}; check the indentation`;
  const siblings = FILE_KEYS.filter((known) => known.startsWith(prefix));
  return (
    REMOVED_SETTINGS.get(path) ??
    formatSuggestion(key, [
      ...new Set(siblings.map((known) => known.slice(prefix.length).split('.')[0] ?? '')),
    ])
  );
}

function isFileKey(path: string): boolean {
  return FILE_KEYS.some((known) => known === path);
}
