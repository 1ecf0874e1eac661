import { parseOrdinal, SINGLE_SHARD, type Shard } from '../sharding/shard.ts';
import { ConfigError, expectedFound, formatValue, throwIfAny, type Problem } from './config-error.ts';
import { readStaticSettings, type Configuration, type ServiceCodeSettings } from './configuration.ts';
import { readText } from './files.ts';
import { readCodeFiles } from './service-codes/code-files.ts';
import type { AppliedCodeFile, CodeFile, CodeFileAccess } from './service-codes/code-files.ts';
import { findRemovedVariables } from './removed-settings.ts';
import { describeShortStaleAfter, resolveCodes } from './service-codes/resolution.ts';
import { formatHowToSet, type SettingPath } from './settings.ts';
import { parseSettingsFile, type SettingsFile } from './settings-file.ts';
import { mergeEntries, readEnvironmentEntries, readFlagEntries } from './sources.ts';
import type { Environment, Flags, MergedSettings, SourceEntry } from './sources.ts';
import { formatDuration } from './units.ts';
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

/** Checks the rules between settings that are each valid. */
function checkConstraints(
  { get, origin, locate }: MergedSettings,
  codes: readonly Pick<ServiceCodeSettings, 'serviceCode' | 'intervalMs'>[],
): readonly Problem[] {
  const problems: Problem[] = [];
  const report = (path: SettingPath, message: string): void => {
    problems.push({ location: locate(path), message });
  };
  const staleAfterMs = get('poll.stale_after');
  const intervalMs = get('poll.interval');
  if (staleAfterMs !== undefined && staleAfterMs < intervalMs)
    report('poll.stale_after', describeShortStaleAfter(staleAfterMs, intervalMs));

  // In scrape mode the interval is the scrape interval: a code that some scrapes do not poll would become stale.
  const minAgeMs = get('poll.min_age');
  const [shortest] = codes.toSorted((one, other) => one.intervalMs - other.intervalMs);
  if (get('poll.mode') === 'scrape' && shortest !== undefined && shortest.intervalMs < minAgeMs) {
    const interval = `${formatValue(shortest.serviceCode)} (${formatDuration(shortest.intervalMs)})`;
    const expected = `at most the interval of service code ${interval}`;
    report('poll.min_age', expectedFound(expected, formatDuration(minAgeMs)));
  }

  const clientFiles = (['upstream.cert_file', 'upstream.key_file'] as const).filter((path) => get(path));
  const [only, both] = clientFiles;
  if (only !== undefined && both === undefined)
    report(only, expectedFound('upstream.cert_file and upstream.key_file together', `only ${only}`));

  const header = get('signing.timestamp_header');
  if (header.toLowerCase() === get('signing.signature_header').toLowerCase()) {
    const isDefault = origin('signing.timestamp_header') === undefined;
    const found = `${formatValue(header)} for both`;
    report(
      isDefault ? 'signing.signature_header' : 'signing.timestamp_header',
      expectedFound('two different headers for signature and timestamp', found),
    );
  }
  return problems;
}
