import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Shard } from '../sharding/shard.ts';
import type { Merged } from './layers.ts';
import { load, type Loaded, type Sources } from './loading.ts';
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

/**
 * Where the configuration of this process comes from, time and again: flags and environment stay as they are, the file
 * and the files that it names are read anew. Remembers, by hash, what it has read.
 */
export class ConfigurationSource {
  readonly #sources: Sources;
  #started: ReadonlyMap<SettingPath, unknown> | undefined;
  #shard: Shard | undefined;
  #files = new Map<string, string>();

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** What the last attempt to load has read, as one text that no secret can be told from. */
  get read(): string {
    return fingerprint(this.#files);
  }

  /** @throws ConfigError as `loadConfiguration` does. */
  async load(): Promise<LoadedConfiguration> {
    const files = new Map<string, string>();
    try {
      const readFile = (path: string): Promise<string> => this.#readNoting(path, files);
      const { configuration, settings } = await load({ ...this.#sources, readFile, shard: this.#shard });
      this.#shard ??= configuration.shard;
      const holding = valuesThatHold(settings);
      const started = (this.#started ??= holding);
      const needRestart = [...holding.keys()].filter(
        (path) => !isDeepStrictEqual(holding.get(path), started.get(path)),
      );
      return { configuration, settings, needRestart };
    } finally {
      this.#files = files;
    }
  }

  /** What loading would read now, of the same files as the last time; to be compared with {@link read}. */
  async look(): Promise<string> {
    const paths = [...this.#files.keys()];
    const files = new Map<string, string>();
    // One after the other: there may be a thousand.
    for (const path of paths) await this.#readNoting(path, files).catch(() => undefined);
    return fingerprint(files);
  }

  /** Notes also that a file could not be read, and how: it may come. */
  async #readNoting(path: string, files: Map<string, string>): Promise<string> {
    try {
      const text = await this.#sources.readFile(path);
      files.set(path, createHash('sha256').update(text).digest('base64'));
      return text;
    } catch (error) {
      files.set(path, error instanceof Error && 'code' in error ? String(error.code) : 'unreadable');
      throw error;
    }
  }
}

function valuesThatHold(settings: Merged): ReadonlyMap<SettingPath, unknown> {
  const paths = settingEntries().map(([path]) => path);
  const holding = paths.filter(
    (path) => HOLDING.includes(path) || !CHANGEABLE_GROUPS.includes(groupOf(path)),
  );
  return new Map(holding.map((path) => [path, settings.value(path)]));
}

function fingerprint(files: ReadonlyMap<string, string>): string {
  return JSON.stringify([...files].toSorted(([one], [other]) => (one < other ? -1 : 1)));
}
