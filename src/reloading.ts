import type { Configuration } from './config/configuration.ts';
import type { ConfigurationSource } from './config/configuration-source.ts';
import { Reloader } from './config/reloader.ts';
import type { Logger } from './log.ts';
import type { SelfMetrics } from './metrics/self.ts';
import type { CodeDifference, PolledCode } from './poller/polled-code.ts';

/** What a new configuration has changed. */
export interface AppliedDifference extends CodeDifference {
  /** Of those that stay, the ones with other static labels. */
  readonly relabelled: readonly PolledCode[];
}

export interface ReloadingParts {
  readonly exporter: {
    readonly self: Pick<SelfMetrics, 'configLoaded'>;
    apply(configuration: Configuration): Promise<AppliedDifference>;
  };
  readonly source: ConfigurationSource;
  readonly logger: Logger;
  /** Takes what is wrong with the program. */
  readonly broken: (error: unknown) => void;
}

/** Joins the configuration's source to the exporter; how each reload went shows in the log and in metrics. */
export function createReloader({
  exporter,
  source,
  logger,
  broken,
}: ReloadingParts): Reloader<AppliedDifference> {
  return new Reloader({
    load: () => source.load(),
    apply: (configuration) => exporter.apply(configuration),
    report: {
      succeeded(trigger, { added, changed, kept, removed, relabelled }, needRestart) {
        exporter.self.configLoaded(true);
        const counts = {
          added: added.length,
          changed: changed.length,
          kept: kept.length,
          removed: removed.length,
          ...(relabelled.length > 0 && { relabelled: relabelled.length }),
        };
        logger.info({ trigger, ...counts }, 'Configuration reloaded');
        if (needRestart.length > 0)
          logger.warn({ settings: needRestart }, 'Settings have changed that need a restart');
      },
      failed(trigger, { message }) {
        exporter.self.configLoaded(false);
        logger.error({ trigger, error: message }, 'Configuration not reloaded');
      },
      broken,
    },
  });
}
