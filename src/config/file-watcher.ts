import type { Clock } from '../clock.ts';
import type { ConfigurationSource } from './configuration-source.ts';

const LOOK_EVERY_MS = 5000;
/** A file that is being written is left to settle: half a secret is a secret too. */
const SETTLES_IN_MS = 1000;

export interface FileWatchOptions {
  readonly source: Pick<ConfigurationSource, 'isWatched' | 'read' | 'look'>;
  readonly clock: Clock;
  /** Called when a file is not what was loaded of it, and stands still; it has to load anew. */
  readonly changed: () => Promise<unknown>;
}

/**
 * Looks, where that is wanted, until the signal aborts, and then rejects with its reason. Not by the file system's events:
 * files are replaced by rename, mounted from elsewhere, and Kubernetes changes the link to their folder.
 */
export async function watchFiles(
  { source, clock, changed }: FileWatchOptions,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(LOOK_EVERY_MS, signal);
    if (!source.isWatched) continue;
    let before = source.read;
    let now = await source.look();
    while (now !== before && now !== source.read) {
      await clock.sleep(SETTLES_IN_MS, signal);
      before = now;
      now = await source.look();
    }
    if (now !== source.read) await changed();
  }
}
