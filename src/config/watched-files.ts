import { basename, dirname, join } from 'node:path';
import { raceAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import { isMissing, readErrorCode, type ConfigFileSystem } from './file-system.ts';

const CHECK_INTERVAL_MS = 5000;
/** A changed file is read after this time without another change: half of a secret is a valid secret, too. */
const SETTLE_TIME_MS = 1000;

/** Reads files, and remembers size and times of each to detect changes. */
export class WatchedFiles {
  readonly #files: ConfigFileSystem;
  readonly #known = new Map<string, { readonly stamp: string; readonly readStamp: () => Promise<string> }>();

  constructor(files: ConfigFileSystem) {
    this.#files = files;
  }

  /** Also remembers that a file could not be read: it may be created later. */
  readonly readFile = async (path: string): Promise<string> => {
    await this.#watch(path, () => this.#files.readStamp(path));
    return await this.#files.readFile(path);
  };

  /** Remembers which files match, not what else is in the folder. */
  readonly findMatchingFiles = async (glob: string): Promise<readonly string[]> => {
    const find = () => findMatchingFiles(glob, this.#files.listFolder);
    await this.#watch(`files ${glob}`, async () => String(await find()));
    return await find();
  };

  /** Called before the read, so that a write during it is a change. */
  async #watch(key: string, readStamp: () => Promise<string>): Promise<void> {
    const readStampOrError = () => readStamp().catch(readErrorCode);
    this.#known.set(key, { stamp: await readStampOrError(), readStamp: readStampOrError });
  }

  /** The result of {@link check} while nothing has changed. */
  get fingerprint(): string {
    return [...this.#known.values()].map(({ stamp }) => stamp).join();
  }

  async check(): Promise<string> {
    return (await Promise.all([...this.#known.values()].map(({ readStamp }) => readStamp()))).join();
  }
}

/**
 * Reloads after a change of the files of the last attempt to load has settled. File system events would miss
 * changes: files are replaced by rename or live on network mounts; Kubernetes swaps a link to their folder.
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
 * The files that match the one `*` of a name, sorted. A path without `*` matches itself, even if missing; a
 * leading `*` skips dot files, which editors and Kubernetes hide. (`fs.glob` needs Node.js 22.)
 */
async function findMatchingFiles(
  glob: string,
  listFolder: ConfigFileSystem['listFolder'],
): Promise<readonly string[]> {
  const [prefix = '', suffix] = basename(glob).split('*');
  if (suffix === undefined) return [glob];
  const folder = dirname(glob);
  const isMatch = (name: string): boolean =>
    name.length >= prefix.length + suffix.length &&
    name.startsWith(prefix) &&
    name.endsWith(suffix) &&
    (prefix !== '' || !name.startsWith('.'));
  const names = await listFolder(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });
  return names
    .filter(isMatch)
    .toSorted()
    .map((name) => join(folder, name));
}
