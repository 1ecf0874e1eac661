import type { Clock } from '../../clock.ts';
import type { ReadFile } from '../../config/files.ts';
import { ConfigError } from '../../config/problem.ts';
import type { Logger } from '../../log.ts';
import type { LoadAttempt, WebConfiguration } from './web-configuration.ts';
import { OPEN, tryWebConfiguration } from './web-configuration.ts';

/** How long what was read counts as unchanged. */
const CHECK_INTERVAL_MS = 1000;

/** Where connections and requests learn how the server guards itself. */
export interface WebConfigurationSource {
  /** What is in force; read again first where the last look is a while ago. Never rejects. */
  latest(): Promise<WebConfiguration>;
}

/** Without a file nothing ever changes. */
export const OPEN_SOURCE: WebConfigurationSource = { latest: () => Promise.resolve(OPEN) };

export interface SourceOptions {
  readonly path: string;
  readonly readFile: ReadFile;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Loads a web configuration file, and looks for changes of it, and of the certificates that it names, when asked. One
 * that has become wrong changes nothing and is logged once. Rejects with a ConfigError where it is wrong now.
 */
export async function openWebConfiguration(options: SourceOptions): Promise<WebConfigurationSource> {
  const { path, readFile, clock, logger } = options;
  const { outcome, digest } = await tryWebConfiguration(path, readFile);
  if (outcome instanceof ConfigError) throw outcome;
  let current = outcome;
  let lastDigest = digest;
  let checkedAtMs = clock.monotonic();
  let check: Promise<void> | undefined;

  const take = (attempt: LoadAttempt): void => {
    if (attempt.digest === lastDigest) return;
    lastDigest = attempt.digest;
    const refusal =
      attempt.outcome instanceof ConfigError ? attempt.outcome.message : losing(current, attempt.outcome);
    if (refusal !== undefined || attempt.outcome instanceof ConfigError) {
      logger.error({ error: refusal }, 'Web configuration not loaded, the one before stays in force');
      return;
    }
    current = attempt.outcome;
    logger.info({ tls: current.tls !== undefined, users: current.users.size }, 'Web configuration loaded');
  };
  const look = async (): Promise<void> => {
    try {
      take(await tryWebConfiguration(path, readFile));
    } catch (err) {
      logger.error({ err }, 'Web configuration not looked at');
    } finally {
      checkedAtMs = clock.monotonic();
      check = undefined;
    }
  };
  return {
    async latest() {
      if (clock.monotonic() - checkedAtMs >= CHECK_INTERVAL_MS) await (check ??= look());
      return current;
    },
  };
}

/**
 * A file that is being written is empty for a moment, and an empty file is a valid one: nobody gets in for that.
 * Whoever means to open the server starts it anew.
 */
function losing(current: WebConfiguration, next: WebConfiguration): string | undefined {
  const lost = [
    ...(current.tls !== undefined && next.tls === undefined ? ['TLS'] : []),
    ...(current.users.size > 0 && next.users.size === 0 ? ['basic authentication'] : []),
  ];
  return lost.length === 0 ? undefined : `${lost.join(' and ')} cannot be turned off without a restart`;
}
