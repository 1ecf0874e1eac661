import { isDeepStrictEqual } from 'node:util';
import type { Shard } from '../sharding/shard.ts';
import { compareCodeFiles, NO_CODE_FILE_CHANGES } from './service-codes/code-file-changes.ts';
import type { CodeFileChanges } from './service-codes/code-file-changes.ts';
import { CodeFileCache } from './service-codes/code-files.ts';
import { FileFingerprints } from './file-fingerprints.ts';
import type { ConfigFileSystem } from './files.ts';
import { loadConfiguration, type LoadOptions, type LoadResult } from './loader.ts';
import { listSettings, toGroupName, type SettingPath } from './settings.ts';
import type { MergedSettings } from './sources.ts';

/** Groups of settings that a reload applies; the others need a restart. */
const RELOADABLE_GROUPS: readonly string[] = ['upstream', 'signing', '', 'poll'];
/** Settings of these groups that need a restart nevertheless. */
const RESTART_ONLY_SETTINGS: readonly SettingPath[] = ['poll.mode'];

/** A loaded configuration with the settings that a reload cannot apply. */
export interface LoadedConfiguration extends LoadResult {
  /** Settings that need a restart and have changed since the start. */
  readonly settingsNeedingRestart: readonly SettingPath[];
}

export interface ConfigurationSourceOptions
  extends ConfigFileSystem, Pick<LoadOptions, 'flags' | 'env' | 'hostName'> {}

/**
 * Loads the configuration of this process, repeatedly: flags and environment stay the same, the files are read again.
 * It keeps a hash of everything that it read.
 */
export class ConfigurationSource {
  readonly #options: ConfigurationSourceOptions;
  readonly #codeFileCache = new CodeFileCache();
  #startupValues: ReadonlyMap<SettingPath, unknown> | undefined;
  #shard: Shard | undefined;
  #hasCodeFiles = false;
  #fingerprints: FileFingerprints;
  #lastLoaded: Pick<LoadResult, 'codeFiles' | 'unmatchedPatterns'> | undefined;
  #codeFileChanges = NO_CODE_FILE_CHANGES;

  constructor(options: ConfigurationSourceOptions) {
    this.#options = options;
    this.#fingerprints = new FileFingerprints(options);
  }

  /** Fingerprint of the files at the last attempt to load; reveals no secret. */
  get loadedFingerprint(): string {
    return this.#fingerprints.fingerprint;
  }

  /** Changes of the service code files with the last successful load. */
  get codeFileChanges(): CodeFileChanges {
    return this.#codeFileChanges;
  }

  /** Whether file changes trigger a reload: `config.auto_reload` at the start, or any `service_code_files`. */
  get isWatched(): boolean {
    return this.#hasCodeFiles || this.#startupValues?.get('config.auto_reload') === true;
  }

  /** @throws ConfigError as {@link loadConfiguration} does. */
  async load(): Promise<LoadedConfiguration> {
    const { flags, env, hostName } = this.#options;
    const fingerprints = new FileFingerprints(this.#options);
    const { readFile, findMatchingFiles } = fingerprints;
    try {
      const loaded = await loadConfiguration(
        { flags, env, hostName, readFile, findMatchingFiles, shard: this.#shard },
        this.#codeFileCache,
      );
      this.#shard ??= loaded.configuration.shard;
      const values = collectRestartOnlyValues(loaded.settings);
      const startupValues = (this.#startupValues ??= values);
      const settingsNeedingRestart = [...values.keys()].filter(
        (path) => !isDeepStrictEqual(values.get(path), startupValues.get(path)),
      );
      this.#hasCodeFiles = loaded.settings.get('service_code_files') !== undefined;
      this.#codeFileChanges = compareCodeFiles(this.#lastLoaded, loaded);
      const { codeFiles, unmatchedPatterns } = loaded;
      this.#lastLoaded = { codeFiles, unmatchedPatterns };
      return { ...loaded, settingsNeedingRestart };
    } finally {
      this.#fingerprints = fingerprints;
    }
  }

  /** Fingerprint of the same files now, to compare with {@link loadedFingerprint}. */
  async computeFingerprint(): Promise<string> {
    return await this.#fingerprints.computeFingerprint();
  }
}

function collectRestartOnlyValues(settings: MergedSettings): ReadonlyMap<SettingPath, unknown> {
  const paths = listSettings()
    .map(([path]) => path)
    .filter((path) => RESTART_ONLY_SETTINGS.includes(path) || !RELOADABLE_GROUPS.includes(toGroupName(path)));
  return new Map(paths.map((path) => [path, settings.get(path)]));
}
