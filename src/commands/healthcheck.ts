import { Agent, request } from 'undici';
import { ConfigError } from '../config/config-error.ts';
import { readText } from '../config/files.ts';
import { parseSettingsFile } from '../config/settings-file.ts';
import { SETTINGS } from '../config/settings.ts';
import {
  mergeEntries,
  readEnvironmentEntries,
  readFlagEntries,
  type Flags,
  type SourceEntry,
} from '../config/sources.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import type { Command, CommandIo } from './command.ts';
import { parseCommandLine } from './command-line.ts';
import { formatCommandHelp } from './help.ts';
import { formatLocalAddress } from './local-address.ts';

const TIMEOUT_MS = 5000;

/**
 * Checks that the exporter which this command line, environment and configuration file describe is healthy, and returns
 * exit code 0 if so, else 1.
 *
 * Mistakes in the file are ignored: a running exporter keeps its last good configuration. Tries HTTP, then HTTPS without
 * verifying the certificate, as it sends no secret. If the exporter requires a password or a client certificate,
 * `web.open_probes` has to allow probes.
 */
export const healthcheck: Command = async (args, io) => {
  try {
    const { flags, switches } = parseCommandLine(args);
    if (switches.has('help')) {
      io.stdout.write(formatCommandHelp('healthcheck'));
      return 0;
    }
    const address = await resolveAddress(flags, io);
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const { url, status } = await probe(address, signal);
    if (status === 200) return 0;
    const remedy = [401, 403].includes(status) ? '; set web.open_probes to allow probes' : '';
    io.stderr.write(`healthcheck: expected HTTP status 200 from ${url}, found ${status}${remedy}\n`);
    return 1;
  } catch (error) {
    io.stderr.write(`healthcheck: ${getErrorMessage(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
};

interface HealthResponse {
  readonly url: string;
  readonly status: number;
}

/** A server with TLS responds to plain HTTP with 400 or closes the connection. */
async function probe(address: string, signal: AbortSignal): Promise<HealthResponse> {
  const [plain] = await Promise.allSettled([fetchHealth(`http://${address}/-/healthy`, signal)]);
  if (plain.status === 'fulfilled' && plain.value.status !== 400) return plain.value;
  const [tls] = await Promise.allSettled([fetchHealth(`https://${address}/-/healthy`, signal)]);
  if (tls.status === 'fulfilled') return tls.value;
  if (plain.status === 'fulfilled') return plain.value;
  throw plain.reason;
}

async function fetchHealth(url: string, signal: AbortSignal): Promise<HealthResponse> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { statusCode: status, body } = await request(url, { signal, dispatcher });
    await body.dump();
    return { url, status };
  } finally {
    await dispatcher.destroy();
  }
}

async function resolveAddress(flags: Flags, { environment, files }: CommandIo): Promise<string> {
  const given = [...readEnvironmentEntries(environment), ...readFlagEntries(flags)];
  const entries = [...(await readFileEntries(given, files)), ...given];
  const [address] = mergeEntries(entries.filter(isAddress)).get('web.listen_address');
  return formatLocalAddress(address?.host, address?.port ?? 0);
}

/** Reads the valid settings of the configuration file; none if it cannot be read. */
async function readFileEntries(
  given: readonly SourceEntry[],
  { readFile }: CommandIo['files'],
): Promise<readonly SourceEntry[]> {
  const path = mergeEntries(given.filter((entry) => entry.path === 'config.file')).get('config.file');
  if (path === undefined) return [];
  const text = await readText(readFile, { path, location: '', folder: undefined });
  if (typeof text !== 'string') return [];
  return parseSettingsFile(text, path).entries.filter(
    (entry) => SETTINGS[entry.path].schema.safeParse(entry.raw).success,
  );
}

function isAddress({ path }: SourceEntry): boolean {
  return path === 'web.listen_address';
}
