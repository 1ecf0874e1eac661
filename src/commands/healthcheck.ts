import { readFile, readlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Agent, buildConnector, request } from 'undici';
import { formatLocalAddress, listenAddressList, type ListenAddress } from '../config/addresses.ts';
import { ConfigError, expectedFound } from '../config/config-error.ts';
import { mergeEntries, readSources, type Flags } from '../config/sources.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import type { Command, CommandIo } from './command.ts';
import { parseCommandLine } from './command-line.ts';
import { formatHelp } from './help.ts';

const TIMEOUT_MS = 5000;

/**
 * Exits with 0 if the exporter is healthy, else with 1. Flags, environment and configuration file describe
 * it, as those of `serve`; without flags, those of process 1 do if it runs this program: the check of an
 * image does not know the flags of its container. Mistakes in the file are ignored, because a running
 * exporter keeps its last good configuration. The certificate is not verified, as no secret is sent. With
 * passwords or client certificates, `web.open_probes` has to allow probes.
 */
export const healthcheck: Command = async (args, io) => {
  try {
    return await checkHealth(args, io);
  } catch (error) {
    io.stderr.write(`${getErrorMessage(error).replaceAll(/^/gm, 'healthcheck: ')}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
};

async function checkHealth(args: readonly string[], io: CommandIo): Promise<number> {
  const { flags, others } = parseCommandLine(args.length === 0 ? await readContainerFlags() : args);
  if (others.has('help')) {
    io.stdout.write(formatHelp());
    return 0;
  }
  const address = await resolveAddress(flags, io);
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]);
  const { url, status } = await probe(address, signal);
  if (status === 200) return 0;
  const remedy = [401, 403].includes(status) ? 'set web.open_probes to allow probes' : undefined;
  throw new Error(expectedFound(`HTTP status 200 from ${url}`, String(status), remedy));
}

/** A server with TLS responds to plain HTTP with 400 or closes the connection. */
async function probe(address: ListenAddress, signal: AbortSignal) {
  const fetchOver = (scheme: string) =>
    fetchHealth(`${scheme}://${formatLocalAddress(address)}/-/healthy`, address, signal);
  const [plain] = await Promise.allSettled([fetchOver('http')]);
  if (plain.status === 'fulfilled' && plain.value.status !== 400) return plain.value;
  const [tls] = await Promise.allSettled([fetchOver('https')]);
  if (tls.status === 'fulfilled') return tls.value;
  if (plain.status === 'fulfilled') return plain.value;
  throw plain.reason;
}

async function fetchHealth(url: string, { host, socketPath }: ListenAddress, signal: AbortSignal) {
  const connect = buildConnector({ rejectUnauthorized: false, socketPath: socketPath ?? null });
  const zoned = host?.includes('%') === true ? { hostname: host } : {};
  const dispatcher = new Agent({
    connect: (target, callback) => connect({ ...target, ...zoned }, callback),
  });
  try {
    const { statusCode: status, body } = await request(url, { signal, dispatcher });
    await body.dump();
    return { url, status };
  } finally {
    await dispatcher.destroy();
  }
}

/** The flags of process 1, also behind an init such as tini; none if it runs another program. */
async function readContainerFlags(): Promise<readonly string[]> {
  const commandLine = await readFile('/proc/1/cmdline', 'utf8').catch(() => '');
  const folder = await readlink('/proc/1/cwd').catch(() => '/');
  const words = commandLine.split('\0').slice(0, -1);
  const program = words.findIndex((word) => resolve(folder, word) === process.argv[1]);
  if (program === -1) return [];
  return words.slice(program + (words[program + 1] === 'serve' ? 2 : 1));
}

/** The first address. A file that cannot be read, or an invalid address in it, counts as none. */
async function resolveAddress(flags: Flags, { environment, files }: CommandIo): Promise<ListenAddress> {
  const { entries } = await readSources(environment, flags, files.readFile);
  const usable = entries.filter(({ path, raw, folder }) => {
    const isOfFile = folder !== undefined;
    return path === 'web.listen_address' && (!isOfFile || listenAddressList.safeParse(raw).success);
  });
  const [address] = mergeEntries(usable).get('web.listen_address');
  return address ?? { host: undefined, port: 0 };
}
