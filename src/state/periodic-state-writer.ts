import type { StateMetrics } from '../metrics/exporter-metrics.ts';
import type { Clock } from '../runtime/clock.ts';
import { getErrorCode, getErrorMessage } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';

export interface PeriodicStateWriterOptions {
  readonly path: string;
  readonly intervalMs: number;
  /** Writes the state and returns its size in bytes. */
  readonly write: () => Promise<number>;
  readonly metrics: StateMetrics;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Writes the state of all tallies at intervals and on disposal. */
export class PeriodicStateWriter implements AsyncDisposable {
  readonly #options: PeriodicStateWriterOptions;
  readonly #abortController = new AbortController();
  #loop: Promise<never> | undefined;
  /** Error code of the last write; `undefined` if it succeeded. */
  #lastErrorCode: string | undefined;

  constructor(options: PeriodicStateWriterOptions) {
    this.#options = options;
  }

  /** Starts to write. The promise rejects with an unexpected error, or on disposal. */
  start(): Promise<never> {
    this.#loop = this.#run();
    return this.#loop;
  }

  /** Waits for a write in progress and writes a last time, if it was started. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abortController.abort();
    if (this.#loop === undefined) return;
    await Promise.allSettled([this.#loop]);
    await this.write();
  }

  async #run(): Promise<never> {
    const { clock, intervalMs } = this.#options;
    for (;;) {
      await clock.sleep(intervalMs, this.#abortController.signal);
      await this.write();
    }
  }

  /** Writes once. Does not reject for errors of the file system: the previous file remains and the next write may succeed. */
  async write(): Promise<void> {
    const { write, metrics, clock } = this.#options;
    const startedMs = clock.monotonic();
    try {
      const bytes = await write();
      metrics.recordWrite(bytes);
      this.#logSuccess(bytes, clock.monotonic() - startedMs);
    } catch (error) {
      const code = getErrorCode(error);
      if (code === undefined) throw error;
      metrics.recordWriteError();
      this.#logFailure(code, getErrorMessage(error));
    }
  }

  #logSuccess(bytes: number, durationMs: number): void {
    const { logger, path } = this.#options;
    const level = this.#lastErrorCode === undefined ? 'debug' : 'info';
    logger[level]({ file: path, bytes, duration_ms: Math.round(durationMs) }, 'State written');
    this.#lastErrorCode = undefined;
  }

  #logFailure(code: string, message: string): void {
    const { logger, path } = this.#options;
    const level = code === this.#lastErrorCode ? 'debug' : 'warn';
    logger[level]({ file: path, err: message }, 'State write failed');
    this.#lastErrorCode = code;
  }
}
