import { isDeepStrictEqual } from 'node:util';
import type { ConfigFileSystem } from './files.ts';
import { loadConfiguration, type LoadOptions, type LoadResult } from './loader.ts';
import { listSettings, toGroupName, type SettingPath } from './settings.ts';
import type { MergedSettings } from './sources.ts';
import { WatchedFiles } from './watched-files.ts';

/** A reload applies the settings of these groups, except `poll.mode`; the others need a restart. */
const RELOADABLE_GROUPS: readonly string[] = ['upstream', 'signing', '', 'poll', 'tasks'];
const RESTART_ONLY_SETTINGS: readonly SettingPath[] = listSettings()
  .map(([path]) => path)
  .filter((path) => path === 'poll.mode' || !RELOADABLE_GROUPS.includes(toGroupName(path)));

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

  /** The last configuration that was loaded. */
  get last(): LoadedConfiguration | undefined {
    return this.#last;
  }

  /** Whether file changes trigger a reload: `config.auto_reload` at the start, or any `service_code_files`. */
  get isWatched(): boolean {
    return (
      this.#atStart?.get('config.auto_reload') === true ||
      this.#last?.settings.get('service_code_files') !== undefined
    );
  }

  /** @throws ConfigError as {@link loadConfiguration} does. */
  async load(): Promise<LoadedConfiguration> {
    const last = this.#last;
    const files = new WatchedFiles(this.#options);
    const { readFile, findMatchingFiles } = files;
    const options = { ...this.#options, readFile, findMatchingFiles, last };
    const loaded = await loadConfiguration(options).finally(() => {
      this.#files = files;
    });
    const { settings, unmatchedPatterns } = loaded;
    const atStart = (this.#atStart ??= settings);
    this.#last = {
      ...loaded,
      settingsNeedingRestart: RESTART_ONLY_SETTINGS.filter(
        (path) => !isDeepStrictEqual(settings.get(path), atStart.get(path)),
      ),
      newlyUnmatchedPatterns: unmatchedPatterns.filter(
        (pattern) => last?.unmatchedPatterns.includes(pattern) !== true,
      ),
    };
    return this.#last;
  }
}
