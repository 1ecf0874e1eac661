import { isDeepStrictEqual } from 'node:util';
import { parseOrdinal, SINGLE_SHARD, type Shard } from '../sharding/shard.ts';
import { ConfigError, createProblem, formatValue, throwIfAny, type Problem } from './config-error.ts';
import { readStaticSettings, readUpstreamSettings, type Configuration } from './configuration.ts';
import type { ConfigFileSystem } from './file-system.ts';
import { readServiceCodes, type CodeFile } from './service-codes/code-files.ts';
import { formatHowToSet, listSettings, toGroupName, type SettingPath } from './settings.ts';
import { mergeEntries, readSources, type Environment, type Flags, type MergedSettings } from './sources.ts';
import { formatDuration } from './units.ts';
import { WatchedFiles } from './watched-files.ts';

/** A reload applies the settings of these groups; the others need a restart. */
const RELOADABLE_GROUPS: readonly string[] = ['upstream', 'signing', '', 'poll', 'tasks'];
const RESTART_ONLY_SETTINGS: readonly SettingPath[] = listSettings()
  .map(([path]) => path)
  .filter((path) => !RELOADABLE_GROUPS.includes(toGroupName(path)));

/** A configuration with the settings that it was made of and what has changed. */
export interface LoadedConfiguration {
  readonly configuration: Configuration;
  readonly settings: MergedSettings;
  /** The existing service code files; with mistakes only if others were in effect before. */
  readonly codeFiles: readonly CodeFile[];
  /** Paths of `service_code_files`, resolved, that match no existing file. */
  readonly unmatchedPatterns: readonly string[];
  /** Settings that need a restart and have changed since the start. */
  readonly settingsNeedingRestart: readonly SettingPath[];
}

export interface ConfigurationSourceOptions extends ConfigFileSystem {
  readonly flags: Flags;
  readonly env: Environment;
  /** Only called if the shard depends on it. */
  readonly hostName: () => string;
  /** Label names of metrics, which static labels cannot have. */
  readonly metricLabels: ReadonlySet<string>;
}

/** Loads the configuration of this process: flags and environment stay, the files are read each time. */
export class ConfigurationSource {
  readonly #options: ConfigurationSourceOptions;
  #atStart: MergedSettings | undefined;
  #files: WatchedFiles;
  #last: LoadedConfiguration | undefined;

  constructor(options: ConfigurationSourceOptions) {
    this.#options = options;
    this.#files = new WatchedFiles(options);
  }

  /** The files of the last attempt to load. */
  get files(): WatchedFiles {
    return this.#files;
  }

  get last(): LoadedConfiguration | undefined {
    return this.#last;
  }

  /** Whether file changes trigger a reload: with `config.auto_reload`, or any `service_code_files`. */
  get isWatched(): boolean {
    return (
      this.#atStart?.get('config.auto_reload') === true ||
      this.#last?.settings.get('service_code_files') !== undefined
    );
  }

  /** A ConfigError lists all mistakes. After the first load, those of code files are in `codeFiles`. */
  async load(): Promise<LoadedConfiguration> {
    const files = new WatchedFiles(this.#options);
    try {
      this.#last = await this.#load(files);
      return this.#last;
    } finally {
      this.#files = files;
    }
  }

  async #load({ readFile, findMatchingFiles }: WatchedFiles): Promise<LoadedConfiguration> {
    const { flags, env, hostName, resolveLinks, metricLabels } = this.#options;
    const sources = await readSources(env, flags, readFile);
    const settings = mergeEntries(sources.entries, sources.problems);
    const configuredShard = resolveShard(settings, hostName);
    const shard = this.#last?.configuration.shard ?? configuredShard;
    const applied = new Map(this.#last?.codeFiles.map(({ path, codes }) => [path, codes]));
    const access = { readFile, findMatchingFiles, resolveLinks, shard, applied, metricLabels };
    const codes = await readServiceCodes(settings, access);
    const { codeFiles, unmatchedPatterns, serviceCodes, codesOnOtherShards } = codes;
    const fileProblems = this.#last === undefined ? codeFiles.flatMap((codeFile) => codeFile.problems) : [];
    const problems = [...codes.problems, ...fileProblems, ...findBrokenRules(settings)];
    const upstream = await readUpstreamSettings(settings, env, readFile, problems);
    throwIfAny(problems);
    const atStart = (this.#atStart ??= settings);
    return {
      configuration: {
        ...readStaticSettings(settings),
        upstream,
        shard,
        serviceCodes,
        codesOnOtherShards,
      },
      settings,
      codeFiles,
      unmatchedPatterns,
      settingsNeedingRestart: RESTART_ONLY_SETTINGS.filter(
        (path) => !isDeepStrictEqual(settings.get(path), atStart.get(path)),
      ),
    };
  }
}

/** `shard.index`, else the ordinal of the host name. A mistake is reported alone. */
function resolveShard({ get, locate }: MergedSettings, hostName: () => string): Shard {
  const count = get('shard.count');
  const index = get('shard.index');
  if (index !== undefined) {
    if (index < count) return { index, count };
    const expected = `an index below shard.count, which is ${count}`;
    throw new ConfigError([createProblem(locate('shard.index'), expected, formatValue(index))]);
  }
  if (count === 1) return SINGLE_SHARD;
  const name = hostName();
  const ordinal = parseOrdinal(name);
  if (ordinal !== undefined && ordinal < count) return { index: ordinal, count };
  const expected = `a name that ends in the index of the shard, -0 to -${count - 1}`;
  const remedy = formatHowToSet('shard.index');
  throw new ConfigError([createProblem('host name', expected, formatValue(name), remedy)]);
}

/** Checks the rules between settings that are each valid. */
function* findBrokenRules({ get, origin, locate }: MergedSettings): Generator<Problem> {
  const staleAfterMs = get('poll.stale_after');
  const intervalMs = get('poll.interval');
  if (staleAfterMs !== undefined && staleAfterMs < intervalMs) {
    const expected = `at least poll.interval (${formatDuration(intervalMs)})`;
    yield createProblem(locate('poll.stale_after'), expected, formatDuration(staleAfterMs));
  }
  const pair = (['upstream.cert_file', 'upstream.key_file'] as const).filter((path) => get(path));
  if (pair.length === 1)
    for (const path of pair)
      yield createProblem(locate(path), 'upstream.cert_file and upstream.key_file together', `only ${path}`);
  const header = get('signing.timestamp_header');
  if (header.toLowerCase() === get('signing.signature_header').toLowerCase()) {
    const isDefault = origin('signing.timestamp_header') === undefined;
    const expected = 'two different headers for signature and timestamp';
    const path = isDefault ? 'signing.signature_header' : 'signing.timestamp_header';
    yield createProblem(locate(path), expected, `${formatValue(header)} for both`);
  }
}
