import { ConfigError } from '../../config/config-error.ts';
import type { ConfigFileSystem } from '../../config/file-system.ts';
import { WatchedFiles } from '../../config/watched-files.ts';
import { raceAbort } from '../../runtime/abort.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Logger } from '../../runtime/logger.ts';
import type { CertificateValidity } from './tls-options.ts';
import { loadWebConfiguration, type WebConfiguration } from './web-configuration-file.ts';

const CHECK_INTERVAL_MS = 1000;
/** At this cost a comparison takes more than a second. */
const MAX_FAST_BCRYPT_COST = 14;

/** The web configuration in force. */
export interface WebConfigurationSource {
  readonly current: WebConfiguration;
  /** Calls the listener after each reload. */
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

export interface WebConfigurationSourceOptions {
  readonly path: string;
  readonly files: ConfigFileSystem;
  readonly clock: Pick<Clock, 'now'>;
  readonly logger: Logger;
}

/**
 * Loads a web configuration file; rejects with a ConfigError. Later, a version that is invalid, needs a restart or
 * removes a protection is logged once and ignored.
 */
export async function openWebConfiguration({
  path,
  files,
  clock,
  logger,
}: WebConfigurationSourceOptions): Promise<WebConfigurationSource> {
  const logLoaded = ({ tls, users }: WebConfiguration): void => {
    logger.info({ tls: tls !== undefined, users: users.size }, 'Web configuration loaded');
    const cost = Math.max(...[...users.values()].map((hash) => Number(hash.slice(4, 6))));
    if (cost > MAX_FAST_BCRYPT_COST) logger.warn({ cost }, 'bcrypt cost slows down password checks');
  };
  let watched = new WatchedFiles(files);
  let current = await loadWebConfiguration(path, watched.readFile);
  const listeners: ((configuration: WebConfiguration) => void)[] = [];
  logLoaded(current);
  const warnAboutExpired = createExpiryWarner(clock, logger);
  warnAboutExpired(current);

  const reload = async (): Promise<void> => {
    watched = new WatchedFiles(files);
    const next = await loadWebConfiguration(path, watched.readFile).catch(returnConfigError);
    if (next instanceof ConfigError) {
      logger.error({ err: next.message }, 'Web configuration reload failed; keeping the previous one');
      return;
    }
    const reason = describeRestartNeed(current, next);
    if (reason !== undefined) {
      logger.warn({ reason }, 'Web configuration change needs a restart; keeping the previous one');
      return;
    }
    const removed = findRemovedProtections(current, next);
    if (removed.length > 0) {
      const remedy = 'restart to apply it';
      logger.warn(
        { removed, remedy },
        'Web configuration change removes protection; keeping the previous one',
      );
      return;
    }
    current = next;
    for (const listener of listeners) listener(next);
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
        warnAboutExpired(current);
      } catch (err) {
        logger.error({ err }, 'Web configuration check failed');
      }
    },
  };
}

/** Returns a function that logs each expired certificate once for each time that it is loaded. */
function createExpiryWarner(
  clock: Pick<Clock, 'now'>,
  logger: Logger,
): (configuration: WebConfiguration) => void {
  const warned = new WeakSet<CertificateValidity>();
  return ({ tls }) => {
    for (const certificate of tls?.certificates ?? []) {
      const { kind, notAfterMs } = certificate;
      if (notAfterMs > clock.now() || warned.has(certificate)) continue;
      warned.add(certificate);
      logger.warn(
        { certificate: kind, not_after: new Date(notAfterMs).toISOString() },
        'Certificate expired',
      );
    }
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

function returnConfigError(error: unknown): ConfigError {
  if (error instanceof ConfigError) return error;
  throw error;
}

/**
 * Describes why a change needs a restart; `undefined` if it does not. Node.js cannot turn TLS or requests for client
 * certificates on or off in a listening server.
 */
function describeRestartNeed(current: WebConfiguration, next: WebConfiguration): string | undefined {
  if (current.tls !== undefined && next.tls === undefined) return 'TLS cannot be turned off';
  if (current.tls === undefined && next.tls !== undefined) return 'TLS cannot be turned on';
  if (current.tls?.clientAuth.isRequested === next.tls?.clientAuth.isRequested) return undefined;
  return 'client_auth_type cannot change from or to NoClientCert';
}

/** Lists the protections that `next` lacks: the file may be cut off, for example because it is being written. */
function findRemovedProtections(current: WebConfiguration, next: WebConfiguration): readonly string[] {
  const remaining = new Set(listProtections(next));
  return listProtections(current).filter((name) => !remaining.has(name));
}

/** Lists the protections of a web configuration, in the words of its file. */
function listProtections({ tls, users }: WebConfiguration): readonly string[] {
  const { clientAuth, secureContext } = tls ?? {};
  const protections: readonly (readonly [name: string, isActive: boolean])[] = [
    ['tls_server_config', tls !== undefined],
    ['min_version', secureContext?.minVersion === 'TLSv1.3'],
    ['client_auth_type (certificate required)', clientAuth?.isRequired === true],
    ['client_auth_type (certificate verified)', clientAuth?.isVerified === true],
    // Without a CA of its own, the server would accept certificates of every CA that Node.js trusts.
    ['client_ca_file', clientAuth?.isVerified === true && secureContext?.ca !== undefined],
    ['basic_auth_users', users.size > 0],
  ];
  return protections.flatMap(([name, isActive]) => (isActive ? [name] : []));
}
