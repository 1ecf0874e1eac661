import convict from 'convict';
import { expectedFound, findNearest, throwIfAny, type Problem } from './config-error.ts';
import type { FileReference } from './file-system.ts';
import type { SettingPath, SettingValue } from './settings.ts';
import { listSettings, SETTINGS, toEnvironmentName, toFlagName } from './settings.ts';
import { toProblems, type Locate, type ValuePath } from './validation.ts';

/** A setting as one source gives it, not yet parsed. */
export interface SourceEntry {
  readonly path: SettingPath;
  readonly raw: unknown;
  /** Folder for relative paths; undefined for the working directory. */
  readonly folder?: string | undefined;
  readonly locate: Locate;
}

/** The text of each setting that the command line gives. */
export type Flags = ReadonlyMap<SettingPath, string>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** A setting that one source gives as text. The location of an entry of a list has its number. */
function createTextEntry(path: SettingPath, raw: unknown, source: string): SourceEntry {
  const locate: Locate = ([index] = []) =>
    index === undefined ? source : `${source}, entry ${Number(index) + 1}`;
  return { path, raw, locate };
}

/**
 * Reads settings from the environment; an empty variable counts as not set, an unknown one has no effect.
 */
export function readEnvironmentEntries(environment: Environment): readonly SourceEntry[] {
  return listSettings().flatMap(([path]) => {
    const name = toEnvironmentName(path);
    const raw = environment[name];
    const isSet = raw !== undefined && raw !== '';
    return isSet ? [createTextEntry(path, raw, `environment variable ${name}`)] : [];
  });
}

/** Reads settings from the command line. */
export function readFlagEntries(flags: Flags): readonly SourceEntry[] {
  return [...flags].map(([path, raw]) => createTextEntry(path, raw, `flag ${toFlagName(path)}`));
}

/** Variables that Kubernetes sets for each Service: `XVS_EXPORTER_SERVICE_HOST`, `XVS_EXPORTER_PORT_20928_TCP_ADDR`. */
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

/** All settings: each from the last source that gives it, else its default. */
export interface MergedSettings {
  /** The parsed value. */
  get<P extends SettingPath>(this: void, path: P): SettingValue<P>;
  /** The file or folder that the setting names; undefined if it is not set. */
  file(this: void, path: SettingPath): FileReference | undefined;
  /** The entry that gave the value; undefined for a default. */
  origin(this: void, path: SettingPath): SourceEntry | undefined;
  /** Location of the value, or of a part of it; the key for a default. */
  locate(this: void, path: SettingPath, inner?: ValuePath): string;
}

/**
 * Parses each entry once, also those that a later one overrides, and merges them; later ones win.
 *
 * convict holds the table, the defaults and the merged values. Its own readers of environment and arguments are not
 * used: they know no locations, and turn strings that look like numbers into numbers (a service code `1.10` into
 * `1.1`).
 *
 * @param found - problems of the sources, reported together with those of the values
 * @throws ConfigError that lists every problem
 */
export function mergeEntries(
  entries: readonly SourceEntry[],
  found: readonly Problem[] = [],
): MergedSettings {
  const problems = [...found];
  const config = convict(CONVICT_SCHEMA, { env: {}, args: [] });
  for (const { path, raw, locate } of entries) {
    const parsed = SETTINGS[path].schema.safeParse(raw);
    if (parsed.success) config.set(toConvictKey(path), parsed.data);
    // Not `push(…)` of all: there may be more than a call can have arguments.
    else for (const problem of toProblems(parsed.error, locate)) problems.push(problem);
  }
  throwIfAny(problems);
  const origins = new Map(entries.map((entry) => [entry.path, entry]));
  const locate: MergedSettings['locate'] = (path, inner) => origins.get(path)?.locate(inner) ?? path;
  return {
    // convict stores values as `unknown`; each was given by the schema at the same path.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    get: (path) => config.get(toConvictKey(path)) as SettingValue<typeof path>,
    file: (path) => {
      const value: unknown = config.get(toConvictKey(path));
      const folder = origins.get(path)?.folder;
      return typeof value === 'string' ? { path: value, locate: () => locate(path), folder } : undefined;
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
