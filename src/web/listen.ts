import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { access, chmod, constants, lstat, unlink } from 'node:fs/promises';
import { connect, isIP, type ListenOptions, type Server } from 'node:net';
import { dirname } from 'node:path';
import { formatListenAddress, type ListenAddress } from '../config/addresses.ts';
import { ConfigError, expectedFound, formatValue } from '../config/config-error.ts';
import { formatHowToSet } from '../config/settings.ts';
import { getErrorCode } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';

export type ResolveHost = (name: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (name) => {
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => address);
};

/** For the user and the group of the process. */
const SOCKET_MODE = 0o660;

/** Errors of an address that a name may have although the machine lacks it, such as `::1` without IPv6. */
const NOT_OF_THIS_MACHINE: readonly unknown[] = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

type StartServer = (options: ListenOptions) => Promise<Server>;

export async function listenOn(
  address: ListenAddress,
  start: StartServer,
  resolve: ResolveHost,
  logger: Logger,
): Promise<void> {
  if (address.socketPath === undefined) await listenOnHost(address, start, resolve, logger);
  else await listenOnSocket(address.socketPath, start);
}

/** An address that the machine lacks is skipped with a warning if another one can be listened on. */
async function listenOnHost(
  { host, port: wantedPort }: Extract<ListenAddress, { port: number }>,
  start: StartServer,
  resolve: ResolveHost,
  logger: Logger,
): Promise<void> {
  const hosts = host === undefined || isIP(host) !== 0 ? [host] : new Set(await resolve(host));
  let port: number | undefined;
  let skipped: Error | undefined;
  for (const ip of hosts) {
    try {
      const server = await start({ host: ip, port: port ?? wantedPort });
      // For port 0, the system chooses one port for all addresses of the name.
      ({ port } = getBoundAddress(server));
    } catch (error) {
      if (!(error instanceof Error && NOT_OF_THIS_MACHINE.includes(getErrorCode(error)))) throw error;
      skipped = error;
    }
  }
  if (skipped === undefined) return;
  if (port === undefined) throw skipped;
  logger.warn({ host, err: skipped }, 'Address of the name is not of this machine; skipped');
}

/** Node.js removes the socket when the server closes, and sets its mode by the umask. */
async function listenOnSocket(path: string, start: StartServer): Promise<void> {
  await removeStaleSocket(path);
  await start({ path });
  await chmod(path, SOCKET_MODE);
}

/** Removes the socket of a process that has ended. Rejects if anything else is in its place. */
async function removeStaleSocket(path: string): Promise<void> {
  // Listening would report a missing folder as a lack of permissions.
  await access(dirname(path), constants.W_OK);
  const found = await lstat(path).catch((error: unknown) => {
    if (getErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw Object.assign(new Error('Expected a socket'), { code: 'ENOTSOCK' });
  const socket = connect(path);
  try {
    await once(socket, 'connect');
  } catch (error) {
    if (getErrorCode(error) !== 'ECONNREFUSED') throw error;
    return await unlink(path);
  } finally {
    socket.destroy();
  }
  throw Object.assign(new Error('Another process listens on the socket'), { code: 'EADDRINUSE' });
}

export function getBoundAddress(server: Server): ListenAddress {
  const address = server.address();
  if (typeof address === 'string') return { socketPath: address };
  if (address === null) throw new TypeError('Expected a server that listens');
  return { host: address.address, port: address.port };
}

/** Errors of listening that a setting causes, and whether they may pass without a change of it. */
const LISTEN_ERRORS: ReadonlyMap<string | undefined, { readonly found: string; readonly mayPass?: true }> =
  new Map([
    ['EADDRINUSE', { found: 'which another process uses', mayPass: true }],
    ['EADDRNOTAVAIL', { found: 'which is no address of this machine' }],
    ['EAFNOSUPPORT', { found: 'which is no address of this machine' }],
    ['EINVAL', { found: 'which needs the zone of an interface, as in [fe80::1%eth0]', mayPass: true }],
    ['EACCES', { found: 'which needs more privileges' }],
    ['ENOTFOUND', { found: 'whose name is unknown' }],
    ['EAI_AGAIN', { found: 'whose name cannot be resolved', mayPass: true }],
    ['EAGAIN', { found: 'which another process uses', mayPass: true }],
    ['ENOENT', { found: 'whose folder does not exist' }],
    ['ENOTDIR', { found: 'whose folder does not exist' }],
    ['ENOTSOCK', { found: 'where something else than a socket is' }],
    ['EROFS', { found: 'which is on a read-only file system' }],
  ]);

/** Makes a ConfigError of an error that a setting causes, or another error if it may pass by itself. */
export function toListenError(error: unknown, addresses: readonly ListenAddress[]): unknown {
  const code = getErrorCode(error);
  const known = LISTEN_ERRORS.get(code);
  if (known === undefined) return error;
  const location = 'web.listen_address';
  const shown = addresses.map((address) => formatValue(formatListenAddress(address))).join(', ');
  const message = expectedFound(
    'addresses that the exporter can listen on',
    `${shown}, ${known.found} (${code})`,
    formatHowToSet(location),
  );
  return known.mayPass === true
    ? new Error(`${location}: ${message}`, { cause: error })
    : new ConfigError([{ location, message }]);
}
