import { parseOrdinal, SINGLE_SHARD, type Shard } from '../sharding/shard.ts';
import { ConfigError, expectedFound, formatValue, throwIfAny, type Problem } from './config-error.ts';
import { readStaticSettings, type Configuration, type ServiceCodeSettings } from './configuration.ts';
import { readText, type ReadFile } from './files.ts';
import { readCodeFiles, type CodeFile } from './service-codes/code-files.ts';
import { findRemovedVariables } from './removed-settings.ts';
import { describeShortStaleAfter, resolveCodes } from './service-codes/resolution.ts';
import { formatHowToSet, type SettingPath } from './settings.ts';
import { parseSettingsFile, type SettingsFile } from './settings-file.ts';
import { mergeEntries, readEnvironmentEntries, readFlagEntries } from './sources.ts';
import type { Environment, Flags, MergedSettings, SourceEntry } from './sources.ts';
import { formatDuration } from './units.ts';
import { readUpstreamSettings } from './upstream-settings.ts';

/** Where a configuration comes from. */
export interface LoadOptions {
  readonly flags: Flags;
  readonly env: Environment;
  /** Gives the name of this machine; only called if the shard depends on it. */
  readonly hostName: () => string;
  readonly readFile: ReadFile;
  /** Lists the files that match a path with `*`. */
  readonly findMatchingFiles: (glob: string) => Promise<readonly string[]>;
  /** The configuration in effect. Its shard stays, and so do the codes of files that have become bad. */
  readonly last?: LoadResult | undefined;
}

/** A configuration and the settings that it was made of. */
export interface LoadResult {
  readonly configuration: Configuration;
  readonly settings: MergedSettings;
  /** The existing service code files; with mistakes only if others were in effect before. */
  readonly codeFiles: readonly CodeFile[];
  /** Paths of `service_code_files`, resolved, that match no existing file. */
  readonly unmatchedPatterns: readonly string[];
}

/**
 * Loads the configuration: defaults, overridden by the file, the environment and the flags, in this order.
 *
 * @throws ConfigError that lists every invalid value; or, if each value is valid, every problem between them. With a
 *   configuration in effect, mistakes of files of service codes do not throw: `codeFiles` has them.
 */
export async function loadConfiguration(options: LoadOptions): Promise<LoadResult> {
  const { flags, env, readFile, last } = options;
  const given = [...readEnvironmentEntries(env), ...readFlagEntries(flags)];
  const file = await readSettingsFile(given, options);
  const settings = mergeEntries(
    [...file.entries, ...given],
    [...file.problems, ...findRemovedVariables(env)],
  );
  const configuredShard = resolveShard(settings, options.hostName);
  const shard = last?.configuration.shard ?? configuredShard;
  const applied = last && new Map(last.codeFiles.map((codeFile) => [codeFile.path, codeFile]));
  const access = { ...options, shard, applied };
  const { files, unmatchedPatterns } = await readCodeFiles(settings, access);
  if (applied === undefined) throwIfAny(files.flatMap(({ problems }) => problems));
  const { problems, codeFiles, ...codes } = await resolveCodes(settings, files, access);
  const upstream = await readUpstreamSettings(settings, env, readFile);
  throwIfAny([...problems, ...checkConstraints(settings, codes.serviceCodes), ...upstream.problems]);
  const configuration = { ...readStaticSettings(settings), upstream: upstream.settings, shard, ...codes };
  return { configuration, settings, codeFiles, unmatchedPatterns };
}

/** Reads the configuration file that the environment or a flag names. */
export async function readSettingsFile(
  given: readonly SourceEntry[],
  { readFile }: Pick<LoadOptions, 'readFile'>,
): Promise<SettingsFile> {
  const file = mergeEntries(given.filter(({ path }) => path === 'config.file')).file('config.file');
  if (file === undefined) return { entries: [], problems: [] };
  const text = await readText(readFile, file);
  return typeof text === 'string' ? parseSettingsFile(text, file.path) : { entries: [], problems: [text] };
}

/** The shard of this process: `shard.index`, else the ordinal of the host name. A mistake is reported alone. */
function resolveShard({ get, locate }: MergedSettings, hostName: () => string): Shard {
  const count = get('shard.count');
  const index = get('shard.index');
  if (index !== undefined) {
    if (index < count) return { index, count };
    const message = expectedFound(`an index below shard.count, which is ${count}`, formatValue(index));
    throw new ConfigError([{ location: locate('shard.index'), message }]);
  }
  if (count === 1) return SINGLE_SHARD;
  const name = hostName();
  const ordinal = parseOrdinal(name);
  if (ordinal !== undefined && ordinal < count) return { index: ordinal, count };
  const expected = `a name that ends in the index of the shard, -0 to -${count - 1}`;
  const message = expectedFound(expected, formatValue(name), formatHowToSet('shard.index'));
  throw new ConfigError([{ location: 'host name', message }]);
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
