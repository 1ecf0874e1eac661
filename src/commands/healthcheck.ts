import { readdir, readFile, readlink } from 'node:fs/promises';
import { Agent, request } from 'undici';
import { formatLocalAddress, listenAddressList, type ListenAddress } from '../config/addresses.ts';
import { ConfigError, expectedFound } from '../config/config-error.ts';
import { mergeEntries, readSources, type Flags } from '../config/sources.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import type { Command, CommandIo } from './command.ts';
import { parseCommandLine } from './command-line.ts';
import { formatHelp } from './help.ts';

const TIMEOUT_MS = 5000;

/**
 * Exits with 0 if the exporter is healthy, else with 1. Without flags, it is the running one of this program
 * file: the check of an image does not know the flags of its container. Otherwise flags, environment and
 * configuration file describe it; mistakes in the file are ignored, because a running exporter keeps its last
 * good configuration. The certificate is not verified, as no secret is sent. With passwords or client
 * certificates, `web.open_probes` has to allow probes.
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
  const { flags, others } = parseCommandLine(args);
  if (others.has('help')) {
    io.stdout.write(formatHelp());
    return 0;
  }
  const running = args.length === 0 ? await findRunningExporter() : undefined;
  const address = running ?? (await resolveAddress(flags, io));
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

async function fetchHealth(url: string, { socketPath }: ListenAddress, signal: AbortSignal) {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false, socketPath: socketPath ?? null } });
  try {
    const { statusCode: status, body } = await request(url, { signal, dispatcher });
    await body.dump();
    return { url, status };
  } finally {
    await dispatcher.destroy();
  }
}

/** The first address of the oldest process that listens and runs this program file; needs `/proc`. */
async function findRunningExporter(): Promise<ListenAddress | undefined> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.map(Number).filter((pid) => pid > 0);
  for (const pid of pids.toSorted((a, b) => a - b)) {
    // It may have ended, or belong to another user.
    const address = await findListeningAddress(`/proc/${pid}`).catch(() => undefined);
    if (address !== undefined) return address;
  }
  return undefined;
}

const LISTENING_TCP_SOCKET = /^ *\d+: (\w+):(\w{4}) \w+:0000 0A(?: +\S+){5} +(\d+) /gm;
const LISTENING_UNIX_SOCKET = /^\w+: \w+ \w+ 00010000 \w+ \w+ +(\d+) (\/.*)$/gm;

async function findListeningAddress(folder: string): Promise<ListenAddress | undefined> {
  const command = await readFile(`${folder}/cmdline`, 'utf8');
  if (!command.split('\0').includes(process.argv[1] ?? '')) return undefined;
  // Missing on a machine without IPv6.
  const tcp6 = await readFile(`${folder}/net/tcp6`, 'utf8').catch(() => '');
  const tcp = await readFile(`${folder}/net/tcp`, 'utf8');
  const unix = await readFile(`${folder}/net/unix`, 'utf8');
  const addresses = new Map<string, ListenAddress>();
  for (const [, host = '', port = '', inode] of `${tcp}\n${tcp6}`.matchAll(LISTENING_TCP_SOCKET))
    addresses.set(`socket:[${inode}]`, { host: formatHost(host), port: Number.parseInt(port, 16) });
  for (const [, inode, socketPath = ''] of unix.matchAll(LISTENING_UNIX_SOCKET))
    addresses.set(`socket:[${inode}]`, { socketPath });
  for (const descriptor of await readdir(`${folder}/fd`)) {
    const target = await readlink(`${folder}/fd/${descriptor}`).catch(() => '');
    const address = addresses.get(target);
    if (address !== undefined) return address;
  }
  return undefined;
}

/** The kernel prints addresses as words of 32 bits, each in the byte order of the machine. */
function formatHost(hex: string): string {
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = Buffer.from(Uint32Array.from(words, (word) => Number.parseInt(word, 16)).buffer);
  return bytes.length === 4 ? bytes.join('.') : (bytes.toString('hex').match(/.{4}/g) ?? []).join(':');
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
