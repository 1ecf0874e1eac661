import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { isIP, type Server } from 'node:net';
import type { ListenAddress } from '../config/addresses.ts';
import { ConfigError, expectedFound, formatValue } from '../config/config-error.ts';
import { formatHowToSet } from '../config/settings.ts';
import { getErrorCode } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';

/** Finds every address of a host name; rejects as `node:dns/promises` does. */
export type ResolveHost = (name: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (name) => {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
};

/** Errors of an address that a name may have although the machine lacks it, such as `::1` without IPv6. */
const NOT_OF_THIS_MACHINE: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/**
 * Listens on an address, or on every address of a name. One that the machine lacks is skipped with a warning while another
 * is listened on. Adds the servers to `servers`, also before it rejects.
 */
export async function listenOn<S extends Server>(
  address: ListenAddress,
  createServer: () => S,
  servers: S[],
  { resolve, logger }: { readonly resolve: ResolveHost; readonly logger: Logger },
): Promise<void> {
  const { host } = address;
  const hosts = host === undefined || isIP(host) !== 0 ? [host] : new Set(await resolve(host));
  let { port } = address;
  let skipped: Error | undefined;
  let listening = 0;
  for (const ip of hosts) {
    try {
      const server = createServer();
      server.listen(port, ip);
      await once(server, 'listening');
      servers.push(server);
      listening += 1;
      // The system chooses a port 0 once for the name.
      port = getBoundAddress(server).port;
    } catch (error) {
      if (!(error instanceof Error && NOT_OF_THIS_MACHINE.includes(getErrorCode(error)))) throw error;
      skipped = error;
    }
  }
  if (skipped === undefined) return;
  if (listening === 0) throw skipped;
  logger.warn({ host, err: skipped }, 'Address of the name is not of this machine; skipped');
}

export function getBoundAddress(server: Server): { host: string; port: number } {
  const address = server.address();
  if (address === null || typeof address === 'string') {
    throw new TypeError(`Expected a server that listens on a port, found ${String(address)}`);
  }
  return { host: address.address, port: address.port };
}

/** Errors of listening that a setting causes, and whether they may pass without a change of it. */
const LISTEN_ERRORS: ReadonlyMap<string | undefined, { readonly found: string; readonly mayPass?: true }> =
  new Map([
    ['EADDRINUSE', { found: 'which another process uses', mayPass: true }],
    ['EADDRNOTAVAIL', { found: 'which is no address of this machine' }],
    ['EAFNOSUPPORT', { found: 'which is no address of this machine' }],
    ['EACCES', { found: 'which needs more privileges' }],
    ['ENOTFOUND', { found: 'whose name is unknown' }],
    ['EAI_AGAIN', { found: 'whose name cannot be resolved', mayPass: true }],
  ]);

/**
 * Converts an error of listening on one of the addresses to a ConfigError, or to another error if it may pass by itself.
 * Returns unexpected errors unchanged.
 */
export function toListenError(error: unknown, addresses: readonly ListenAddress[]): unknown {
  const code = getErrorCode(error);
  const known = LISTEN_ERRORS.get(code);
  if (known === undefined) return error;
  const location = 'web.listen_address';
  const shown = addresses.map(({ host, port }) => formatValue(`${host ?? ''}:${port}`)).join(', ');
  const message = expectedFound(
    'addresses that the exporter can listen on',
    `${shown}, ${known.found} (${code})`,
    formatHowToSet(location),
  );
  return known.mayPass === true
    ? new Error(`${location}: ${message}`, { cause: error })
    : new ConfigError([{ location, message }]);
}
