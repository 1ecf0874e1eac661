import { raceAbort } from '../runtime/abort.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ConfigurationSource } from './configuration-source.ts';

const CHECK_INTERVAL_MS = 5000;
/** A changed file must stay the same for this time, because half a secret would also be accepted as a secret. */
const SETTLE_TIME_MS = 1000;

export interface FileWatcherOptions {
  readonly source: Pick<ConfigurationSource, 'isWatched' | 'loadedFingerprint' | 'computeFingerprint'>;
  readonly clock: Clock;
  /** Called after a file has changed and settled; has to reload. */
  readonly onChange: () => Promise<unknown>;
}

/**
 * Polls the files of a watched source until the signal aborts, then rejects with its reason. File system events would
 * miss changes: files are replaced by rename or live on network mounts, and Kubernetes swaps a link to their folder.
 */
export async function watchFiles(
  { source, clock, onChange }: FileWatcherOptions,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(CHECK_INTERVAL_MS, signal);
    if (!source.isWatched) continue;
    let before = source.loadedFingerprint;
    // The file system may take its time.
    let current = await raceAbort(source.computeFingerprint(), signal);
    while (current !== before && current !== source.loadedFingerprint) {
      await clock.sleep(SETTLE_TIME_MS, signal);
      before = current;
      current = await raceAbort(source.computeFingerprint(), signal);
    }
    if (current !== source.loadedFingerprint) await raceAbort(onChange(), signal);
  }
}
