import type { Logger } from '../runtime/logger.ts';
import type { ConfigurationSource } from './configuration-source.ts';
import type { ReloaderOptions } from './reloader.ts';
import { logCodeFileChanges } from './service-codes/code-file-changes.ts';

/** The service codes of a reload, by what happened to them. */
interface AppliedCodes {
  readonly added: readonly unknown[];
  readonly changed: readonly unknown[];
  readonly kept: readonly unknown[];
  readonly expectationChanged: readonly unknown[];
  readonly removed: readonly unknown[];
  readonly relabelled: readonly unknown[];
}

export interface ReloadReportOptions {
  readonly source: Pick<ConfigurationSource, 'codeFileChanges'>;
  readonly logger: Logger;
  /** Counts the result of a reload. */
  readonly recordConfigLoad: (isSuccessful: boolean) => void;
  /** Receives an unexpected error, which is a bug. */
  readonly onInternalError: (error: unknown) => void;
}

/** Creates the report of a {@link Reloader} that logs and counts each reload. */
export function createReloadReport({
  source,
  logger,
  recordConfigLoad,
  onInternalError,
}: ReloadReportOptions): ReloaderOptions<AppliedCodes>['report'] {
  return {
    succeeded(trigger, { added, changed, kept, removed, relabelled, expectationChanged }, settings) {
      recordConfigLoad(true);
      const counts = {
        added: added.length,
        changed: changed.length,
        kept: kept.length,
        removed: removed.length,
        ...(relabelled.length > 0 && { relabelled: relabelled.length }),
        ...(expectationChanged.length > 0 && { expectation_changed: expectationChanged.length }),
      };
      logger.info({ trigger, ...counts }, 'Configuration reloaded');
      if (settings.length > 0) logger.warn({ settings }, 'Some changed settings need a restart');
      logCodeFileChanges(source.codeFileChanges, logger);
    },
    failed(trigger, { message }) {
      recordConfigLoad(false);
      logger.error({ trigger, err: message }, 'Configuration reload failed');
    },
    broken: onInternalError,
  };
}
