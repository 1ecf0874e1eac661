import type { Configuration } from './configuration.ts';
import type { LoadedConfiguration } from './configuration-source.ts';
import { ConfigError } from './problem.ts';
import type { SettingPath } from './settings.ts';

/** Who asked for the configuration to be read again. */
export type ReloadTrigger = 'signal' | 'request' | 'file';

/** How a reload went; without `error`, the configuration that was read is in force. */
export interface ReloadOutcome {
  /** What is wrong with the configuration, in the words of the start: no secret. */
  readonly error?: string;
}

export interface ReloaderOptions<Applied> {
  readonly load: () => Promise<LoadedConfiguration>;
  readonly apply: (configuration: Configuration) => Promise<Applied>;
  /** Told of each reload that has ended. */
  readonly report: {
    succeeded(trigger: ReloadTrigger, applied: Applied, needRestart: readonly SettingPath[]): void;
    failed(trigger: ReloadTrigger, error: ConfigError): void;
    /** Something is wrong with the program: what is in force may be half of each. */
    broken(error: unknown): void;
  };
}

/**
 * Reads the configuration again, one reload at a time. Whoever asks while one runs shares the next one with all others
 * that do: the one that runs may have read the files before they changed.
 */
export class Reloader<Applied> implements AsyncDisposable {
  readonly #options: ReloaderOptions<Applied>;
  #running: Promise<ReloadOutcome> | undefined;
  #next: Promise<ReloadOutcome> | undefined;
  #isDisposed = false;

  constructor(options: ReloaderOptions<Applied>) {
    this.#options = options;
  }

  /** Never rejects. A wrong configuration changes nothing, and is what the outcome says. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    if (this.#running === undefined) return this.#start(trigger);
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#start(trigger);
    });
    return this.#next;
  }

  /** Waits for the reload that runs; none comes after it. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#running;
  }

  #start(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    if (this.#isDisposed) return Promise.resolve({ error: 'The exporter is ending.' });
    this.#running = this.#run(trigger).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  async #run(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const { load, apply, report } = this.#options;
    try {
      const { configuration, needRestart } = await load();
      report.succeeded(trigger, await apply(configuration), needRestart);
      return {};
    } catch (error) {
      if (error instanceof ConfigError) {
        report.failed(trigger, error);
        return { error: error.message };
      }
      report.broken(error);
      return { error: 'Internal error.' };
    }
  }
}
