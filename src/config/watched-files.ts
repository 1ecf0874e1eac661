import { createHash } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { raceAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { isMissing, readErrorCode, type ConfigFileSystem } from './file-system.ts';

const CHECK_INTERVAL_MS = 5000;
/** A changed file must stay the same for this time, because half a secret would also be accepted as a secret. */
const SETTLE_TIME_MS = 1000;

/** A file, or the matches of a path with `*`. */
interface KnownSource {
  /** What `readStamp` gave before the source was last read. */
  stamp: string;
  /** Hash of what was read, or the error code. */
  readonly hash: string;
  readonly readStamp: () => Promise<string>;
  readonly readHash: () => Promise<string>;
}

/** Reads files and remembers a hash of each, to detect whether reading them again would give something else. */
export class WatchedFiles {
  readonly #files: ConfigFileSystem;
  readonly #known = new Map<string, KnownSource>();

  constructor(files: ConfigFileSystem) {
    this.#files = files;
  }

  /** Also remembers that a file could not be read: it may be created later. */
  readonly readFile = (path: string): Promise<string> =>
    this.#read(
      path,
      () => this.#files.readFile(path),
      () => this.#files.readStamp(path),
    );

  /** Remembers which files match, not what else is in the folder. */
  readonly findMatchingFiles = (glob: string): Promise<readonly string[]> => {
    const find = () => findMatchingFiles(glob, this.#files.listFolder);
    return this.#read(`files ${glob}`, find, async () => String(await find()));
  };

  async #read<T>(key: string, read: () => Promise<T>, readStamp: () => Promise<string>): Promise<T> {
    const hashOf = (content: Promise<T>): Promise<string> =>
      content.then((text) => createHash('sha256').update(String(text)).digest('base64'), readErrorCode);
    // First, so that a write while the file is read changes it.
    const stamp = await readStamp().catch(readErrorCode);
    const content = read();
    const hash = await hashOf(content);
    this.#known.set(key, { stamp, hash, readStamp, readHash: () => hashOf(read()) });
    return await content;
  }

  /** The result of {@link check} while nothing has changed. */
  get fingerprint(): string {
    return [...this.#known.values()].map(({ hash }) => hash).join(' ');
  }

  /** Reads the files again that `stat` says have changed, and returns the fingerprint of all. */
  async check(): Promise<string> {
    const checks = [...this.#known.values()].map(async (known) => {
      const stamp = await known.readStamp().catch(readErrorCode);
      if (stamp === known.stamp) return known.hash;
      const hash = await known.readHash();
      if (hash === known.hash) known.stamp = stamp;
      return hash;
    });
    return (await Promise.all(checks)).join(' ');
  }
}

/**
 * Checks the files of a watched source until the signal aborts, then rejects with its reason. File system events would
 * miss changes: files are replaced by rename or live on network mounts, and Kubernetes swaps a link to their folder.
 *
 * @param source - its files are those of the last attempt to load
 * @param onChange - called after a file has changed and settled; has to reload
 */
export async function watchFiles(
  source: { readonly isWatched: boolean; readonly files: WatchedFiles },
  clock: Clock,
  onChange: () => Promise<unknown>,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(CHECK_INTERVAL_MS, signal);
    if (!source.isWatched) continue;
    const { files } = source;
    let known = files.fingerprint;
    // The file system may hang.
    let current = await raceAbort(files.check(), signal);
    while (current !== known) {
      await clock.sleep(SETTLE_TIME_MS, signal);
      known = current;
      current = await raceAbort(files.check(), signal);
    }
    // Another reload may have read the files meanwhile.
    if (current !== files.fingerprint && files === source.files) await raceAbort(onChange(), signal);
  }
}

/**
 * Lists the files that match a path, sorted by name. A path without `*` matches itself, whether or not it exists;
 * a leading `*` skips dot files, which editors and Kubernetes hide. A missing folder has no files. (`fs.glob` needs
 * Node.js 22.)
 */
async function findMatchingFiles(
  glob: string,
  listFolder: ConfigFileSystem['listFolder'],
): Promise<readonly string[]> {
  const pattern = basename(glob);
  if (!pattern.includes('*')) return [glob];
  const folder = dirname(glob);
  const wildcard = compileWildcard(pattern);
  const names = await listFolder(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return names
    .filter((name) => wildcard.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

function compileWildcard(pattern: string): RegExp {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${pattern.startsWith('*') ? String.raw`(?!\.)` : ''}${parts.join('.*')}$`, 's');
}
