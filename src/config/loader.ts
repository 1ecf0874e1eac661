import { parseOrdinal, SINGLE_SHARD, type Shard } from '../sharding/shard.ts';
import { ConfigError, expectedFound, formatValue, throwIfAny, type Problem } from './config-error.ts';
import { readStaticSettings, type Configuration } from './configuration.ts';
import { checkConstraints } from './constraints.ts';
import { readText } from './files.ts';
import { readCodeFiles } from './service-codes/code-files.ts';
import type { AppliedCodeFile, CodeFile, CodeFileAccess } from './service-codes/code-files.ts';
import { findRemovedVariables } from './removed-settings.ts';
import { resolveCodes } from './service-codes/resolution.ts';
import { formatHowToSet } from './settings.ts';
import { parseSettingsFile, type SettingsFile } from './settings-file.ts';
import { mergeEntries, readEnvironmentEntries, readFlagEntries } from './sources.ts';
import type { Environment, Flags, MergedSettings, SourceEntry } from './sources.ts';
import { readUpstreamSettings } from './upstream-settings.ts';

/** Where a configuration comes from. */
export interface LoadOptions extends CodeFileAccess {
  readonly flags: Flags;
  readonly env: Environment;
  /** Gives the name of this machine; only called if the shard depends on it. */
  readonly hostName: () => string;
  /** The shard of this process since its start, which reloads cannot change. */
  readonly shard?: Shard | undefined;
}

/** A configuration and the settings that it was made of. */
export interface LoadResult {
  readonly configuration: Configuration;
  readonly settings: MergedSettings;
  /** The existing service code files; with mistakes only if others were in effect before. */
  readonly codeFiles: readonly AppliedCodeFile[];
  /** Paths of `service_code_files`, resolved, that match no existing file. */
  readonly unmatchedPatterns: readonly string[];
}

/**
 * Loads the configuration: defaults, overridden by the file, the environment and the flags, in this order.
 *
 * @throws ConfigError that lists every invalid value; or, if each value is valid, every problem between them. With
 *   files in effect (`applied`), mistakes of files of service codes do not throw: `codeFiles` has them.
 */
export async function loadConfiguration(options: LoadOptions): Promise<LoadResult> {
  const given = [...readEnvironmentEntries(options.env), ...readFlagEntries(options.flags)];
  const file = await readSettingsFile(given, options);
  const found = [...file.problems, ...findRemovedVariables(options.env)];
  const settings = mergeEntries([...file.entries, ...given], found);
  const { files, unmatchedPatterns } = await readCodeFiles(settings, options);
  if (options.applied === undefined) throwIfAny(files.flatMap(({ problems }) => problems));
  const { configuration, codeFiles } = await resolveConfiguration(settings, files, options);
  return { configuration, settings, codeFiles, unmatchedPatterns };
}

/** Reads the configuration file that the environment or a flag names. */
export async function readSettingsFile(
  given: readonly SourceEntry[],
  { readFile }: Pick<LoadOptions, 'readFile'>,
): Promise<SettingsFile> {
  const { get, locate } = mergeEntries(given.filter(({ path }) => path === 'config.file'));
  const path = get('config.file');
  if (path === undefined) return { entries: [], problems: [] };
  const text = await readText(readFile, { path, location: locate('config.file'), folder: undefined });
  return typeof text === 'string' ? parseSettingsFile(text, path) : { entries: [], problems: [text] };
}

async function resolveConfiguration(
  settings: MergedSettings,
  files: readonly CodeFile[],
  { env, readFile, hostName, shard: fixedShard, applied }: LoadOptions,
): Promise<Pick<LoadResult, 'configuration' | 'codeFiles'>> {
  const configuredShard = resolveShard(settings, hostName);
  // Reported alone: which secret files to read depends on the shard.
  if ('location' in configuredShard) throw new ConfigError([configuredShard]);
  const shard = fixedShard ?? configuredShard;
  const options = { readFile, shard, applied };
  const { problems: codeProblems, codeFiles, ...codes } = await resolveCodes(settings, files, options);
  const problems = [...codeProblems, ...checkConstraints(settings, codes.serviceCodes)];
  const upstream = await readUpstreamSettings(settings, env, readFile, problems);
  throwIfAny(problems);
  return { configuration: { ...readStaticSettings(settings), upstream, shard, ...codes }, codeFiles };
}

/** The shard of this process: `shard.index`, else the ordinal of the host name. */
function resolveShard({ get, locate }: MergedSettings, hostName: () => string): Shard | Problem {
  const count = get('shard.count');
  const index = get('shard.index');
  if (index !== undefined) {
    if (index < count) return { index, count };
    const message = expectedFound(`an index below shard.count, which is ${count}`, formatValue(index));
    return { location: locate('shard.index'), message };
  }
  if (count === 1) return SINGLE_SHARD;
  const name = hostName();
  const ordinal = parseOrdinal(name);
  if (ordinal !== undefined && ordinal < count) return { index: ordinal, count };
  const expected = `a name that ends in the index of the shard, -0 to -${count - 1}`;
  const message = expectedFound(expected, formatValue(name), formatHowToSet('shard.index'));
  return { location: 'host name', message };
}
