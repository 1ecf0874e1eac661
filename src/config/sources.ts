import convict from 'convict';
import type { Format, InnerPath } from './format.ts';
import { environmentName, flagName } from './names.ts';
import type { Problem } from './problem.ts';
import type { DefaultedPath, Setting, SettingPath, SettingValue } from './settings.ts';
import { SETTINGS, settingEntries } from './settings.ts';

/** A setting as one source gives it, not yet parsed. */
export interface Entry {
  readonly path: SettingPath;
  readonly raw: unknown;
  /** Folder that relative paths start from; undefined for the working directory. */
  readonly folder?: string;
  /** Where it stands, or something inside it (or the key of that). */
  place(this: void, inner?: InnerPath, ofKey?: boolean): string;
}

/** Text of each setting that the command line gives. */
export type Flags = ReadonlyMap<SettingPath, string>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** Place of a value in a text: of lists, the entry is named. */
function textPlace(source: string) {
  return ([index]: InnerPath = []) =>
    index === undefined ? source : `${source}, entry ${Number(index) + 1}`;
}

/**
 * Settings from the environment; an empty variable counts as not set. Unknown `XVS_` variables are no
 * mistake: Kubernetes sets `XVS_EXPORTER_SERVICE_HOST` and the like for a Service named `xvs-exporter`.
 */
export function environmentEntries(environment: Environment): readonly Entry[] {
  return settingEntries().flatMap(([path]) => {
    const name = environmentName(path);
    const raw = environment[name];
    const isSet = raw !== undefined && raw !== '';
    return isSet ? [{ path, raw, place: textPlace(`environment variable ${name}`) }] : [];
  });
}

/** Settings from the command line. */
export function flagEntries(flags: Flags): readonly Entry[] {
  return [...flags].map(([path, raw]) => ({ path, raw, place: textPlace(`flag ${flagName(path)}`) }));
}

/** What is wrong with the entries, each by itself; also with those that a later layer overrides. */
export function checkEntries(entries: readonly Entry[]): readonly Problem[] {
  return entries.flatMap(({ path, raw, place }) => {
    const parsed = SETTINGS[path].format.parse(raw);
    if (parsed.ok) return [];
    return parsed.issues.map((issue) => ({ place: place(issue.path, issue.ofKey), message: issue.message }));
  });
}

/** The layers as one: each setting from the last layer that gives it, else its default. */
export interface Merged {
  /** A setting that has a default, parsed. */
  read<P extends DefaultedPath>(this: void, path: P): SettingValue<P>;
  /** A setting that may be missing, parsed. */
  find<P extends Exclude<SettingPath, DefaultedPath>>(this: void, path: P): SettingValue<P> | undefined;
  /** Any setting, parsed; `undefined` where it is missing. */
  value(this: void, path: SettingPath): unknown;
  /** A setting as it was written, or its default. */
  raw(this: void, path: SettingPath): unknown;
  /** The entry that decided, where it was no default. */
  origin(this: void, path: SettingPath): Entry | undefined;
}

/**
 * Merges entries that {@link checkEntries} found good; later ones win.
 *
 * convict holds the schema, the defaults and the merge, and `validate` proves that no default breaks its own
 * format. It gets the layers entry by entry: its own readers of environment and arguments know no places for
 * messages, and turn texts that look like numbers into numbers (a service code `1.10` into `1.1`). For the
 * same reason it keeps values as they were written, defaults too; they are parsed when they are read.
 */
export function mergeEntries(entries: readonly Entry[]): Merged {
  const config = convict<Record<string, unknown>>(convictSchema(), { env: {}, args: [] });
  for (const { path, raw } of entries) config.set(path, raw);
  config.validate({ allowed: 'strict' });
  const origins = new Map(entries.map((entry) => [entry.path, entry]));
  const find = <P extends SettingPath>(path: P): SettingValue<P> | undefined => {
    const raw = config.get(path);
    return raw === undefined ? undefined : parseGood(path, raw);
  };
  return {
    read: (path) => parseGood(path, config.get(path)),
    find,
    value: find,
    raw: (path) => config.get(path),
    origin: (path) => origins.get(path),
  };
}

/** The same table, typed so that a key and the value of its format stay together. */
const FORMATS: { readonly [P in SettingPath]: { readonly format: Format<SettingValue<P>> } } = SETTINGS;

function parseGood<P extends SettingPath>(path: P, raw: unknown): SettingValue<P> {
  const parsed = FORMATS[path].format.parse(raw);
  if (parsed.ok) return parsed.value;
  throw new TypeError(`Expected ${path} to have been checked`);
}

type Schema = { [key: string]: Schema | convict.SchemaObj<unknown> };

function convictSchema(): Schema {
  const root: Schema = {};
  for (const [path, setting] of settingEntries()) {
    const steps = path.split('.');
    const name = steps.pop() ?? path;
    groupAt(root, steps)[name] = convictLeaf(path, setting);
  }
  return root;
}

/** The group that some steps lead to, made where it is missing. */
function groupAt(root: Schema, steps: readonly string[]): Schema {
  let group = root;
  for (const step of steps) {
    const inner = group[step] ?? {};
    if ('format' in inner) throw new TypeError(`Expected ${step} to be a group, found a setting`);
    group[step] = inner;
    group = inner;
  }
  return group;
}

function convictLeaf(
  path: SettingPath,
  { doc, format, default: value }: Setting,
): convict.SchemaObj<unknown> {
  return {
    doc,
    default: value,
    sensitive: path === 'secret',
    format(raw: unknown) {
      if (!format.parse(raw).ok) throw new TypeError(`Expected ${path} to be valid`);
    },
  };
}
