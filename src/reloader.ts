import type { ExporterMetrics } from './metrics/exporter-metrics.ts';
import type { CodeDiff } from './poller/polled-code.ts';
import { raceAbort } from './runtime/abort.ts';
import type { Clock } from './runtime/clock.ts';
import type { Logger } from './runtime/logger.ts';
import { findWarnings, type Configuration } from './config/configuration.ts';
import type { LoadedConfiguration } from './config/configuration-source.ts';
import { ConfigError } from './config/config-error.ts';

export type ReloadTrigger = 'signal' | 'request' | 'file';

/** Without `error`, the new configuration is in effect. */
export interface ReloadOutcome {
  readonly error?: string;
}

export interface ReloaderOptions {
  readonly source: { load(): Promise<LoadedConfiguration> };
  readonly exporter: {
    apply(configuration: Configuration): Promise<CodeDiff>;
    readonly exporterMetrics: Pick<ExporterMetrics, 'recordConfigLoad'>;
  };
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'now'>;
  /** Those of the start, which have been logged. */
  readonly warnings: readonly string[];
  /** Receives a bug; the new configuration may be applied in part. */
  readonly onInternalError: (error: unknown) => void;
}

const SHUTTING_DOWN: ReloadOutcome = { error: 'The exporter is shutting down.' };

/** Reloads the configuration. All requests during a reload share one further reload. */
export class Reloader implements AsyncDisposable {
  readonly #options: ReloaderOptions;
  #running: Promise<ReloadOutcome> = Promise.resolve({});
  #next: Promise<ReloadOutcome> | undefined;
  #warnings: readonly string[];
  readonly #disposed = new AbortController();

  constructor(options: ReloaderOptions) {
    this.#options = options;
    this.#warnings = options.warnings;
  }

  /** Never rejects. An invalid configuration changes nothing; of an invalid file, the codes stay. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return (this.#running = this.#run(trigger));
    });
    return this.#next;
  }

  /** Abandons the running reload, or waits for it if it applies the configuration; prevents further ones. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#disposed.abort();
    await this.#running;
  }

  /** Logs what is new. */
  #warn(configuration: Configuration): void {
    const { clock, logger } = this.#options;
    const warnings = [...findWarnings(configuration, clock.now())];
    for (const warning of warnings)
      if (!this.#warnings.includes(warning)) logger.warn({ warning }, 'Questionable configuration');
    this.#warnings = warnings;
  }

  async #run(trigger: ReloadTrigger): Promise<ReloadOutcome> {
    const { source, exporter, logger, onInternalError } = this.#options;
    if (this.#disposed.signal.aborted) return SHUTTING_DOWN;
    try {
      const loaded = await raceAbort(source.load(), this.#disposed.signal);
      const applied = await exporter.apply(loaded.configuration);
      const { codeFiles } = loaded;
      const problems = codeFiles.flatMap((file) => file.problems);
      exporter.exporterMetrics.recordConfigLoad(problems.length === 0, codeFiles);
      logReload(trigger, loaded, applied, logger);
      this.#warn(loaded.configuration);
      if (problems.length === 0) return {};
      const { message } = new ConfigError(problems);
      logger.error({ trigger, err: message }, 'Service code files are invalid; keeping their previous codes');
      return { error: message };
    } catch (error) {
      if (error === this.#disposed.signal.reason) return SHUTTING_DOWN;
      if (error instanceof ConfigError) {
        exporter.exporterMetrics.recordConfigLoad(false);
        logger.error({ trigger, err: error.message }, 'Configuration reload failed');
        return { error: error.message };
      }
      onInternalError(error);
      return { error: 'Internal error.' };
    }
  }
}

/** Thousands of service codes may disappear in one reload. */
const MAX_LOGGED_CODES = 10;

function logReload(
  trigger: ReloadTrigger,
  { settingsNeedingRestart, unmatchedPatterns }: LoadedConfiguration,
  { added, changed, kept, removed, relabelled, expectationChanged }: CodeDiff,
  logger: Logger,
): void {
  const counts = {
    added: added.length,
    changed: changed.length,
    kept: kept.length,
    removed: removed.length,
    ...(relabelled.length > 0 && { relabelled: relabelled.length }),
    ...(expectationChanged.length > 0 && { expectation_changed: expectationChanged.length }),
  };
  logger.info({ trigger, ...counts }, 'Configuration reloaded');
  if (settingsNeedingRestart.length > 0)
    logger.warn({ settings: settingsNeedingRestart }, 'Some changed settings need a restart');
  warnAboutUnmatched(unmatchedPatterns, logger);
  if (removed.length === 0) return;
  const codes = removed.slice(0, MAX_LOGGED_CODES).map(({ serviceCode }) => serviceCode);
  logger.warn({ count: removed.length, service_codes: codes }, 'Service codes disappeared');
}

export function warnAboutUnmatched(patterns: readonly string[], logger: Logger): void {
  for (const pattern of patterns) logger.warn({ pattern }, 'Pattern in service_code_files matches no file');
}
