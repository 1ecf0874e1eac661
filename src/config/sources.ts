import { delimiter, dirname } from 'node:path';
import convict from 'convict';
import {
  createProblem,
  expectedFound,
  findNearest,
  formatSuggestion,
  formatValue,
  throwIfAny,
  type Problem,
} from './config-error.ts';
import { readText, resolvePath, type FileReference, type ReadFile } from './file-system.ts';
import type { SettingPath, SettingValue } from './settings.ts';
import { isSettingPath, listSettings, SETTINGS, toEnvironmentName, toFlagName } from './settings.ts';
import { toProblems, type Locate, type ValuePath } from './validation.ts';
import { parseYaml } from './yaml-source.ts';

/** A setting as one source gives it, not yet parsed. */
export interface SourceEntry {
  readonly path: SettingPath;
  readonly raw: unknown;
  /** Folder for relative paths; undefined for the working directory. */
  readonly folder?: string | undefined;
  readonly locate: Locate;
  /** Whether the platform gives it, not an operator. */
  readonly isDefault?: boolean;
}

/** The text of each setting that the command line gives. */
export type Flags = ReadonlyMap<SettingPath, string>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** The settings of all sources, later ones overriding, and the mistakes in the structure of the file. */
interface Sources {
  readonly entries: readonly SourceEntry[];
  readonly problems: readonly Problem[];
}

/**
 * Reads file, environment and command line, after what the platform gives; values are not parsed yet. An
 * empty variable is not set.
 */
export async function readSources(
  environment: Environment,
  flags: Flags,
  readFile: ReadFile,
): Promise<Sources> {
  const variables = listSettings().flatMap(([path]) => {
    const name = toEnvironmentName(path);
    const raw = environment[name] ?? '';
    return raw === '' ? [] : [createTextEntry(path, raw, `environment variable ${name}`)];
  });
  const given = [
    ...variables,
    ...[...flags].map(([path, raw]) => createTextEntry(path, raw, `flag ${toFlagName(path)}`)),
  ];
  const file = mergeEntries(given.filter(({ path }) => path === 'config.file')).file('config.file');
  const defaults = readPlatformDefaults(environment);
  if (file === undefined) return { entries: [...defaults, ...given], problems: [] };
  const text = await readText(readFile, file);
  const { entries, problems } =
    typeof text === 'string' ? parseSettings(text, file.path) : { entries: [], problems: [text] };
  return { entries: [...defaults, ...entries, ...given], problems };
}

/** The first folder of `STATE_DIRECTORY` (systemd.exec(5)), which the image and the manifests set, too. */
function readPlatformDefaults(environment: Environment): readonly SourceEntry[] {
  const name = 'STATE_DIRECTORY';
  const [raw = ''] = (environment[name] ?? '').split(delimiter);
  if (raw === '') return [];
  return [{ ...createTextEntry('state.path', raw, `environment variable ${name}`), isDefault: true }];
}

/** The location of an entry of a list has its number. */
function createTextEntry(path: SettingPath, raw: string, source: string): SourceEntry {
  const locate: Locate = ([index] = []) =>
    index === undefined ? source : `${source}, entry ${Number(index) + 1}`;
  return { path, raw, locate };
}

export const FILE_KEYS: readonly SettingPath[] = listSettings().flatMap(([path, { excludedSource }]) =>
  excludedSource === 'file' ? [] : [path],
);

function parseSettings(text: string, file: string): Sources {
  const source = parseYaml(text, file);
  if ('message' in source) return { entries: [], problems: [source] };
  const entries: SourceEntry[] = [];
  const problems: Problem[] = [];
  const readMapping = (mapping: unknown, parents: readonly string[]): void => {
    // An empty file, or a mapping with all its settings commented out.
    if (mapping === null || mapping === undefined) return;
    if (typeof mapping !== 'object' || Array.isArray(mapping)) {
      problems.push(createProblem(source.locate(parents), 'a mapping of settings', formatValue(mapping)));
      return;
    }
    for (const [key, raw] of Object.entries(mapping)) {
      const steps = [...parents, key];
      const locate: Locate = (inner = [], isKey) => source.locate([...steps, ...inner], isKey);
      const name = steps.join('.');
      const path = key.includes('.') ? undefined : FILE_KEYS.find((known) => known === name);
      if (path !== undefined) entries.push({ path, raw, folder: dirname(file), locate });
      else if (FILE_KEYS.some((known) => known.startsWith(`${name}.`))) readMapping(raw, steps);
      else {
        problems.push(createProblem(locate([], true), 'a known key', 'an unknown one', suggestKey(steps)));
      }
    }
  };
  readMapping(source.value, []);
  return { entries, problems };
}

function suggestKey(steps: readonly string[]): string | undefined {
  const path = steps.join('.');
  const key = steps.at(-1) ?? '';
  // The path of the configuration file is the only setting that is no key.
  if (steps.length > 1 && isSettingPath(path))
    return `set ${toEnvironmentName(path)} or ${toFlagName(path)} instead`;
  const homes = FILE_KEYS.filter((known) => `.${known}`.endsWith(`.${key}`)).map((known) => {
    const dot = known.lastIndexOf('.');
    return dot < 0 ? 'at the top level' : `in the mapping ${known.slice(0, dot)}`;
  });
  if (homes.length > 0) return `write ${key.split('.').at(-1)} ${homes.join(' or ')}; check the indentation`;
  const toLetters = (text: string): string => text.replaceAll(/[._-]/g, '');
  const spelledAlike = FILE_KEYS.find((known) => toLetters(known) === toLetters(path));
  if (spelledAlike !== undefined) return `did you mean ${spelledAlike}?`;
  const prefix = path.slice(0, path.length - key.length);
  const siblings = FILE_KEYS.filter((known) => known.startsWith(prefix));
  const names = siblings.map((known) => known.slice(prefix.length).split('.')[0] ?? '');
  return formatSuggestion(key, [...new Set(names)]);
}

/** Variables of Kubernetes for a Service: `XVS_EXPORTER_SERVICE_HOST`, `XVS_EXPORTER_PORT_20928_TCP`. */
const KUBERNETES_VARIABLE = /_(?:SERVICE_HOST|SERVICE_PORT(?:_\w+)?|PORT(?:_\d+_\w+)?)$/;
const PREFIX = 'XVS_';

/** Warns of set variables that are close to those of settings, one line each. */
export function findUnknownVariables(environment: Environment): readonly string[] {
  const known = listSettings().map(([path]) => toEnvironmentName(path));
  const withoutPrefix = known.map((name) => name.slice(PREFIX.length).toLowerCase());
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !known.includes(name) && !KUBERNETES_VARIABLE.test(name))
    .flatMap((name) => {
      const nearest = findNearest(name.slice(PREFIX.length), withoutPrefix);
      if (nearest === undefined) return [];
      const remedy = `did you mean ${PREFIX}${nearest.toUpperCase()}?`;
      const found = 'an unknown one, which has no effect';
      return [`environment variable ${name}: ${expectedFound('a known variable', found, remedy)}`];
    });
}

const VERIFICATION_VARIABLE = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** Warns if Node.js accepts any certificate of a service or proxy. */
export function findUnverifiedTls(environment: Environment): readonly string[] {
  if (environment[VERIFICATION_VARIABLE] !== '0') return [];
  const found = '0, with which any certificate of the service is accepted';
  const remedy = 'unset it; upstream.ca_file takes the certificate of an authority';
  return [`environment variable ${VERIFICATION_VARIABLE}: ${expectedFound('no value', found, remedy)}`];
}

/** All settings: each from the last source that gives it, else its default. */
export interface MergedSettings {
  get<P extends SettingPath>(this: void, path: P): SettingValue<P>;
  /** The file or folder that the setting names; undefined if it is not set. */
  file(this: void, path: SettingPath): FileReference | undefined;
  /** The entry that gave the value; undefined for a default. */
  origin(this: void, path: SettingPath): SourceEntry | undefined;
  /** Location of the value, or of a part of it; the key for a default. */
  locate(this: void, path: SettingPath, inner?: ValuePath, isKey?: boolean): string;
}

/**
 * Parses each entry once, also those that a later one overrides, and merges them; later ones win. convict
 * holds table, defaults and merged values. Its own readers of environment and arguments know no locations,
 * and turn a service code `1.10` into the number `1.1`. `found` are problems of the sources; throws a
 * ConfigError with them and those of the values.
 */
export function mergeEntries(
  entries: readonly SourceEntry[],
  found: readonly Problem[] = [],
): MergedSettings {
  const problems = [...found];
  const config = convict(CONVICT_SCHEMA, { env: {}, args: [] });
  for (const { path, raw, locate } of entries) {
    const { data, error } = SETTINGS[path].schema.safeParse(raw);
    for (const problem of toProblems(error, locate)) problems.push(problem);
    config.set(toConvictKey(path), data);
  }
  throwIfAny(problems);
  const origins = new Map(entries.map((entry) => [entry.path, entry]));
  const locate: MergedSettings['locate'] = (path, ...inner) => origins.get(path)?.locate(...inner) ?? path;
  return {
    // convict stores values as `unknown`; each was given by the schema at the same path.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    get: (path) => config.get(toConvictKey(path)) as SettingValue<typeof path>,
    file: (path) => {
      const value: unknown = config.get(toConvictKey(path));
      const folder = origins.get(path)?.folder;
      return typeof value === 'string'
        ? { path: resolvePath(folder, value), locate: () => locate(path) }
        : undefined;
    },
    origin: (path) => origins.get(path),
    locate,
  };
}

/** A flat key: convict would look for `poll.interval` in a group. */
function toConvictKey(path: SettingPath): string {
  return path.replaceAll('.', '/');
}

/** The table as convict takes it. Throws if a default does not match the schema of its setting. */
const CONVICT_SCHEMA: Record<string, convict.SchemaObj<unknown>> = Object.fromEntries(
  listSettings().map(([path, { doc, schema, default: text }]) => {
    const value: unknown = text === undefined ? undefined : schema.parse(text);
    return [toConvictKey(path), { doc, default: value, format: '*' }];
  }),
);
