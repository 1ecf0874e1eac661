import { dirname } from 'node:path';
import { expectedFound, formatSuggestion, formatValue, type Problem } from './config-error.ts';
import { readText, type ReadFile } from './file-system.ts';
import {
  isSettingPath,
  listSettingGroups,
  listSettings,
  toEnvironmentName,
  toFlagName,
  type SettingPath,
} from './settings.ts';
import { mergeEntries, type SourceEntry } from './sources.ts';
import type { Locate } from './validation.ts';
import { parseYaml } from './yaml-source.ts';

/** The settings of a configuration file, and the mistakes in its structure. */
export interface SettingsFile {
  readonly entries: readonly SourceEntry[];
  readonly problems: readonly Problem[];
}

/** The keys of the file, with dots. */
export const FILE_KEYS: readonly SettingPath[] = listSettings().flatMap(([path, { excludedSource }]) =>
  excludedSource === 'file' ? [] : [path],
);

const GROUP_NAMES: readonly string[] = listSettingGroups().map(({ name }) => name);

/** Reads the configuration file that the environment or a flag names. Values are not parsed yet. */
export async function readSettingsFile(
  given: readonly SourceEntry[],
  readFile: ReadFile,
): Promise<SettingsFile> {
  const file = mergeEntries(given.filter(({ path }) => path === 'config.file')).file('config.file');
  if (file === undefined) return { entries: [], problems: [] };
  const text = await readText(readFile, file);
  return typeof text === 'string' ? parseSettingsFile(text, file.path) : { entries: [], problems: [text] };
}

function parseSettingsFile(text: string, file: string): SettingsFile {
  const source = parseYaml(text, file);
  if ('message' in source) return { entries: [], problems: [source] };
  const entries: SourceEntry[] = [];
  const problems: Problem[] = [];
  const readMapping = (mapping: unknown, parents: readonly string[]): void => {
    // An empty file, or a mapping with all its settings commented out.
    if (mapping === null || mapping === undefined) return;
    if (typeof mapping !== 'object' || Array.isArray(mapping)) {
      const message = expectedFound('a mapping of settings', formatValue(mapping));
      problems.push({ location: source.locate(parents), message });
      return;
    }
    for (const [key, raw] of Object.entries(mapping)) {
      const steps = [...parents, key];
      const locate: Locate = (inner = [], isKey) => source.locate([...steps, ...inner], isKey);
      const path = key.includes('.') ? '' : steps.join('.');
      if (isFileKey(path)) entries.push({ path, raw, folder: dirname(file), locate });
      else if (isMapping(path)) readMapping(raw, steps);
      else {
        const suggestion = suggestKey(key, parents.map((parent) => `${parent}.`).join(''));
        problems.push({
          location: locate([], true),
          message: expectedFound('a known key', 'an unknown one', suggestion),
        });
      }
    }
  };
  readMapping(source.value, []);
  return { entries, problems };
}

function suggestKey(key: string, prefix: string): string | undefined {
  const path = prefix + key;
  // Only the configuration file's own path is no key.
  if (prefix !== '' && isSettingPath(path))
    return `set ${toEnvironmentName(path)} or ${toFlagName(path)} instead`;
  const [group = '', rest] = key.split('.');
  if (prefix === '' && rest !== undefined && isFileKey(key)) return `write ${rest} in the mapping ${group}`;
  const homes = GROUP_NAMES.flatMap((name) => {
    if (name === '') return isFileKey(key) ? ['at the top level'] : [];
    return isFileKey(`${name}.${key}`) ? [`in the mapping ${name}`] : [];
  });
  if (homes.length > 0) return `write it ${homes.join(' or ')}; check the indentation`;
  const siblings = FILE_KEYS.filter((known) => known.startsWith(prefix));
  const names = siblings.map((known) => known.slice(prefix.length).split('.')[0] ?? '');
  return formatSuggestion(key, [...new Set(names)]);
}

function isMapping(path: string): boolean {
  return FILE_KEYS.some((known) => known.startsWith(`${path}.`));
}

function isFileKey(path: string): path is SettingPath {
  return FILE_KEYS.some((known) => known === path);
}
