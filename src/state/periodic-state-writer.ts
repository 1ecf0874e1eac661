import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';
import type { StateMetrics } from '../metrics/self.ts';
import type { Tally } from '../tally/tally.ts';
import { codeOf, type FileSystem } from './file-system.ts';
import { writeState } from './write-state.ts';

export interface StateKeeperOptions {
  readonly path: string;
  readonly intervalMs: number;
  readonly files: FileSystem;
  /** The tallies of this moment. */
  readonly tallies: () => Iterable<Tally>;
  readonly metrics: StateMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes the state of all tallies at intervals, and when it is disposed of: after the last poll, then. */
export class StateKeeper implements AsyncDisposable {
  readonly #options: StateKeeperOptions;
  readonly #stop = new AbortController();
  #loop: Promise<never> | undefined;
  /** Why the last write failed; `undefined` if it did not, and before the first. */
  #failure: string | undefined;

  constructor(options: StateKeeperOptions) {
    this.#options = options;
  }

  /** Begins to write. What it returns rejects when something is wrong with the program, or when it is disposed of. */
  start(): Promise<never> {
    this.#loop = this.#run();
    return this.#loop;
  }

  /** Ends what is under way, and writes once more; only what was started, for else nothing has happened. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    if (this.#loop === undefined) return;
    await Promise.allSettled([this.#loop]);
    await this.#write();
  }

  async #run(): Promise<never> {
    const { clock, intervalMs } = this.#options;
    for (;;) {
      await clock.sleep(intervalMs, this.#stop.signal);
      await this.#write();
    }
  }

  /** A disk that is full or gone is no reason to stop: the file that was there before stands. */
  async #write(): Promise<void> {
    const { files, path, tallies, metrics, clock } = this.#options;
    const startedMs = clock.monotonic();
    try {
      const bytes = await writeState(files, path, tallies(), clock.now());
      metrics.written(bytes);
      this.#noteSuccess(bytes, clock.monotonic() - startedMs);
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      metrics.failed();
      this.#noteFailure(error);
    }
  }

  #noteSuccess(bytes: number, durationMs: number): void {
    const { logger, path } = this.#options;
    const level = this.#failure === undefined ? 'debug' : 'info';
    logger[level]({ file: path, bytes, duration_ms: Math.round(durationMs) }, 'State written');
    this.#failure = undefined;
  }

  #noteFailure(error: unknown): void {
    const { logger, path } = this.#options;
    const code = codeOf(error);
    const message = error instanceof Error ? error.message : String(error);
    logger[code === this.#failure ? 'debug' : 'warn']({ file: path, error: message }, 'State not written');
    this.#failure = code;
  }
}
