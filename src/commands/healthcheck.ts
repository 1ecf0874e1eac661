import { Agent, request } from 'undici';
import { ConfigError } from '../config/config-error.ts';
import { mergeEntries, readEnvironmentEntries, readFlagEntries } from '../config/sources.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import type { Command, CommandIo } from './command.ts';
import { parseCommandLine } from './command-line.ts';
import { formatLocalAddress } from './local-address.ts';

const TIMEOUT_MS = 5000;

/**
 * Checks that the exporter on this machine is healthy and returns exit code 0 if so, else 1.
 *
 * Reads `--web.listen-address` from flag or environment but no configuration file: a running exporter is healthy even
 * if its file has become invalid. Tries HTTP, then HTTPS without verifying the certificate, as it sends no secret. If the
 * exporter requires a password or a client certificate, `web.open_probes` has to allow probes.
 */
export const healthcheck: Command = async (args, io) => {
  try {
    const address = resolveAddress(args, io);
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

function resolveAddress(args: readonly string[], { environment }: CommandIo): string {
  const { flags } = parseCommandLine(args);
  const entries = [...readEnvironmentEntries(environment), ...readFlagEntries(flags)].filter(
    ({ path }) => path === 'web.listen_address',
  );
  const [address] = mergeEntries(entries).get('web.listen_address');
  return formatLocalAddress(address?.host, address?.port ?? 0);
}
