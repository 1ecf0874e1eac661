import { isDeepStrictEqual } from 'node:util';
import type { ConfigFileSystem } from './files.ts';
import { loadConfiguration, type LoadOptions, type LoadResult } from './loader.ts';
import { listSettings, toGroupName, type SettingPath } from './settings.ts';
import type { MergedSettings } from './sources.ts';
import { WatchedFiles } from './watched-files.ts';

/** Groups of settings that a reload applies; the others need a restart. */
const RELOADABLE_GROUPS: readonly string[] = ['upstream', 'signing', '', 'poll'];
/** Settings of these groups that need a restart nevertheless. */
const RESTART_ONLY_SETTINGS: readonly SettingPath[] = ['poll.mode'];

/** A loaded configuration with what has changed. */
export interface LoadedConfiguration extends LoadResult {
  /** Settings that need a restart and have changed since the start. */
  readonly settingsNeedingRestart: readonly SettingPath[];
  /** Paths of `service_code_files` that match no existing file, and did match one at the previous load. */
  readonly newlyUnmatchedPatterns: readonly string[];
}

export interface ConfigurationSourceOptions
  extends ConfigFileSystem, Pick<LoadOptions, 'flags' | 'env' | 'hostName'> {}

/**
 * Loads the configuration of this process, repeatedly: flags and environment stay the same, the files are read again.
 * It remembers what it read, to detect changes.
 */
export class ConfigurationSource {
  readonly #options: ConfigurationSourceOptions;
  #startupValues: ReadonlyMap<SettingPath, unknown> | undefined;
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

  /** The last configuration that was loaded. */
  get last(): LoadedConfiguration | undefined {
    return this.#last;
  }

  /** Whether file changes trigger a reload: `config.auto_reload` at the start, or any `service_code_files`. */
  get isWatched(): boolean {
    return (
      this.#startupValues?.get('config.auto_reload') === true ||
      this.#last?.settings.get('service_code_files') !== undefined
    );
  }

  /** @throws ConfigError as {@link loadConfiguration} does. */
  async load(): Promise<LoadedConfiguration> {
    const { flags, env, hostName } = this.#options;
    const last = this.#last;
    const files = new WatchedFiles(this.#options);
    const { readFile, findMatchingFiles } = files;
    const applied = last && new Map(last.codeFiles.map((file) => [file.path, file]));
    const shard = last?.configuration.shard;
    const options = { flags, env, hostName, readFile, findMatchingFiles, shard, applied };
    const loaded = await loadConfiguration(options).finally(() => {
      this.#files = files;
    });
    const values = collectRestartOnlyValues(loaded.settings);
    const startupValues = (this.#startupValues ??= values);
    const known = new Set(last?.unmatchedPatterns);
    this.#last = {
      ...loaded,
      settingsNeedingRestart: [...values.keys()].filter(
        (path) => !isDeepStrictEqual(values.get(path), startupValues.get(path)),
      ),
      newlyUnmatchedPatterns: loaded.unmatchedPatterns.filter((pattern) => !known.has(pattern)),
    };
    return this.#last;
  }
}

function collectRestartOnlyValues(settings: MergedSettings): ReadonlyMap<SettingPath, unknown> {
  const paths = listSettings()
    .map(([path]) => path)
    .filter((path) => RESTART_ONLY_SETTINGS.includes(path) || !RELOADABLE_GROUPS.includes(toGroupName(path)));
  return new Map(paths.map((path) => [path, settings.get(path)]));
}
