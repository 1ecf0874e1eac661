import { isDeepStrictEqual } from 'node:util';
import type { Shard } from '../sharding/shard.ts';
import { CodeFileMemory } from './code-files.ts';
import { FileNotes } from './file-notes.ts';
import type { ConfigurationFiles } from './files.ts';
import type { Environment, Flags, Merged } from './layers.ts';
import { load, type Loaded } from './loading.ts';
import { groupOf } from './names.ts';
import { settingEntries, type SettingPath } from './settings.ts';

/** Groups of settings that can change while the exporter runs; the others hold from the start on. */
const CHANGEABLE_GROUPS: readonly string[] = ['upstream', 'signing', '', 'poll'];
/** What holds from the start on all the same. */
const HOLDING: readonly SettingPath[] = ['poll.mode'];

/** A configuration, its settings, and what of them has to wait for a restart. */
export interface LoadedConfiguration extends Loaded {
  /** Settings that hold from the start on, and are not what they were then. */
  readonly needRestart: readonly SettingPath[];
}

/** What a configuration is made of, and the files that it names. */
export interface ConfigurationSourceOptions extends ConfigurationFiles {
  readonly flags: Flags;
  readonly env: Environment;
  /** The name of this machine, asked for only where it says which shard this is. */
  readonly hostName: () => string;
}

/**
 * Where the configuration of this process comes from, time and again: flags and environment stay as they are, the file
 * and the files that it names are read anew. Remembers, by hash, what it has read.
 */
export class ConfigurationSource {
  readonly #options: ConfigurationSourceOptions;
  readonly #codeFiles = new CodeFileMemory();
  #started: ReadonlyMap<SettingPath, unknown> | undefined;
  #shard: Shard | undefined;
  #namesCodeFiles = false;
  #notes: FileNotes;

  constructor(options: ConfigurationSourceOptions) {
    this.#options = options;
    this.#notes = new FileNotes(options);
  }

  /** What the last attempt to load has read, as one text that no secret can be told from. */
  get read(): string {
    return this.#notes.fingerprint;
  }

  /** Whether a change of the files is to be taken by itself: from the start on, or as long as codes come from files. */
  get isWatched(): boolean {
    return this.#namesCodeFiles || this.#started?.get('config.auto_reload') === true;
  }

  /** @throws ConfigError as `loadConfiguration` does. */
  async load(): Promise<LoadedConfiguration> {
    const { flags, env, hostName } = this.#options;
    const notes = new FileNotes(this.#options);
    const { readFile, filesMatching } = notes;
    try {
      const loaded = await load(
        { flags, env, hostName, readFile, filesMatching, shard: this.#shard },
        this.#codeFiles,
      );
      this.#shard ??= loaded.configuration.shard;
      const holding = valuesThatHold(loaded.settings);
      const started = (this.#started ??= holding);
      const needRestart = [...holding.keys()].filter(
        (path) => !isDeepStrictEqual(holding.get(path), started.get(path)),
      );
      this.#namesCodeFiles = loaded.settings.find('service_code_files') !== undefined;
      return { ...loaded, needRestart };
    } finally {
      this.#notes = notes;
    }
  }

  /** What loading would read now, of the same files as the last time; to be compared with {@link read}. */
  async look(): Promise<string> {
    return await this.#notes.look();
  }
}

function valuesThatHold(settings: Merged): ReadonlyMap<SettingPath, unknown> {
  const paths = settingEntries().map(([path]) => path);
  const holding = paths.filter(
    (path) => HOLDING.includes(path) || !CHANGEABLE_GROUPS.includes(groupOf(path)),
  );
  return new Map(holding.map((path) => [path, settings.value(path)]));
}
