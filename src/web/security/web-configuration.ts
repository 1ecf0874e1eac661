import { ConfigError } from '../../config/config-error.ts';
import type { ConfigFileSystem } from '../../config/file-system.ts';
import { WatchedFiles } from '../../config/watched-files.ts';
import { raceAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import { findWebWarnings, loadWebConfiguration, type WebConfiguration } from './web-configuration-file.ts';

const CHECK_INTERVAL_MS = 1000;

export interface WebConfigurationSource {
  readonly current: WebConfiguration;
  onReload(this: void, listener: (configuration: WebConfiguration) => void): void;
  /** Reloads the web configuration if its files have changed. Never rejects. */
  check(this: void): Promise<void>;
}

/** Plain HTTP without authentication, for an exporter without a web configuration file. */
export const DEFAULT_WEB_CONFIGURATION_SOURCE: WebConfigurationSource = {
  current: { tls: undefined, headers: {}, users: new Map() },
  onReload: () => undefined,
  check: () => Promise.resolve(),
};

/** Rejects with a ConfigError. Later, a version that is bad or needs a restart is logged once and ignored. */
export async function openWebConfiguration(
  path: string,
  files: ConfigFileSystem,
  clock: Pick<Clock, 'now'>,
  logger: Logger,
): Promise<WebConfigurationSource> {
  let watched = new WatchedFiles(files);
  let current = await loadWebConfiguration(path, watched.readFile);
  const listeners: ((configuration: WebConfiguration) => void)[] = [];
  const logLoaded = ({ tls, users }: WebConfiguration): void =>
    logger.info({ tls: tls !== undefined, users: users.size }, 'Web configuration loaded');
  logLoaded(current);

  const reload = async (): Promise<void> => {
    watched = new WatchedFiles(files);
    const next = await loadWebConfiguration(path, watched.readFile);
    const changes = findRestartNeeds(current, next);
    if (changes.length > 0) {
      logger.warn({ changes }, 'Web configuration change needs a restart; keeping the previous one');
      return;
    }
    current = next;
    for (const listener of listeners) listener(next);
    for (const warning of findWebWarnings(next, clock.now()))
      logger.warn({ warning }, 'Questionable configuration');
    logLoaded(next);
  };
  return {
    get current() {
      return current;
    },
    onReload: (listener) => void listeners.push(listener),
    check: async () => {
      try {
        if ((await watched.check()) !== watched.fingerprint) await reload();
      } catch (err) {
        const shown = err instanceof ConfigError ? err.message : err;
        logger.error({ err: shown }, 'Web configuration reload failed; keeping the previous one');
      }
    },
  };
}

/** Checks the web configuration each second; rejects with the signal's reason when it aborts. */
export async function watchWebConfiguration(
  { check }: WebConfigurationSource,
  clock: Clock,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    await clock.sleep(CHECK_INTERVAL_MS, signal);
    await raceAbort(check(), signal);
  }
}

/**
 * Finds what a reload cannot change: a listening server of Node.js cannot turn TLS or client certificates on
 * or off, and a file without a protection may be cut off, for example because it is being written.
 */
function findRestartNeeds(current: WebConfiguration, next: WebConfiguration): readonly string[] {
  const before = listProtections(current);
  return listProtections(next).flatMap(([name, isActive, isFixed = false], index) => {
    const wasActive = before[index]?.[1] === true;
    return wasActive !== isActive && (wasActive || isFixed) ? [name] : [];
  });
}

/** The protections of a web configuration, in the words of its file. */
function listProtections({
  tls,
  users,
}: WebConfiguration): readonly (readonly [name: string, isActive: boolean, isFixed?: boolean])[] {
  const { clientAuth, secureContext } = tls ?? {};
  return [
    ['tls_server_config', tls !== undefined, true],
    ['client_auth_type (certificate requested)', clientAuth?.isRequested === true, true],
    ['client_auth_type (certificate required)', clientAuth?.isRequired === true],
    ['client_auth_type (certificate verified)', clientAuth?.isVerified === true],
    // Without a CA of its own, the server would accept certificates of every CA that Node.js trusts.
    ['client_ca_file', clientAuth?.isVerified === true && secureContext?.ca !== undefined],
    ['min_version', secureContext?.minVersion === 'TLSv1.3'],
    ['basic_auth_users', users.size > 0],
  ];
}
