import { raceAbort } from '../runtime/abort.ts';
import type { Configuration } from './configuration.ts';
import type { LoadedConfiguration } from './configuration-source.ts';
import { ConfigError } from './config-error.ts';
import type { SettingPath } from './settings.ts';

/** The trigger of a reload. */
export type ReloadTrigger = 'signal' | 'request' | 'file';

/** Result of a reload; without `error`, the new configuration is in effect. */
export interface ReloadOutcome {
  /** The message of the ConfigError; contains no secret. */
  readonly error?: string;
}

export interface ReloaderOptions<Applied> {
  readonly load: () => Promise<LoadedConfiguration>;
  readonly apply: (configuration: Configuration) => Promise<Applied>;
  /** Receives the result of every reload. */
  readonly report: {
    succeeded(trigger: ReloadTrigger, applied: Applied, needRestart: readonly SettingPath[]): void;
    failed(trigger: ReloadTrigger, error: ConfigError): void;
    /** A bug; the new configuration may be applied in part. */
    broken(error: unknown): void;
  };
}

const SHUTTING_DOWN: ReloadOutcome = { error: 'The exporter is shutting down.' };

/**
 * Reloads the configuration, one reload at a time. All requests during a reload share one further reload, because the
 * running one may have read the files before they changed.
 */
export class Reloader<Applied> implements AsyncDisposable {
  readonly #options: ReloaderOptions<Applied>;
  #running: Promise<ReloadOutcome> | undefined;
  #next: Promise<ReloadOutcome> | undefined;
  readonly #disposed = new AbortController();

  constructor(options: ReloaderOptions<Applied>) {
    this.#options = options;
  }

  /** Never rejects. An invalid configuration changes nothing; the outcome has the error. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    if (this.#running === undefined) return this.#start(trigger);
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#start(trigger);
    });
    return this.#next;
  }

  /** Abandons the running reload, or waits for it if it already applies the configuration; prevents further ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort();
    await this.#running;
  }

  #start(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    if (this.#disposed.signal.aborted) return Promise.resolve(SHUTTING_DOWN);
    this.#running = this.#run(trigger).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const { load, apply, report } = this.#options;
    try {
      const { configuration, settingsNeedingRestart } = await raceAbort(load(), this.#disposed.signal);
      report.succeeded(trigger, await apply(configuration), settingsNeedingRestart);
      return {};
    } catch (error) {
      if (error === this.#disposed.signal.reason) return SHUTTING_DOWN;
      if (error instanceof ConfigError) {
        report.failed(trigger, error);
        return { error: error.message };
      }
      report.broken(error);
      return { error: 'Internal error.' };
    }
  }
}
