import { request } from 'undici';
import { parseCommandLine } from '../config/command-line.ts';
import { checkEntries, environmentEntries, flagEntries, mergeEntries } from '../config/layers.ts';
import { ConfigError, throwIfAny } from '../config/problem.ts';
import type { Command, CommandIo } from './command.ts';

const TIMEOUT_MS = 5000;

/**
 * Asks the exporter of this machine whether it is healthy: exit code 0 if so, 1 if not. It takes
 * `--web.listen-address` from flag or environment and reads no configuration file: a file that has become
 * wrong does not make a running exporter sick.
 */
export const healthcheck: Command = async (args, io) => {
  try {
    const url = healthUrl(args, io);
    const { statusCode, body } = await request(url, {
      signal: AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    await body.dump();
    if (statusCode === 200) return 0;
    io.stderr.write(`healthcheck: expected HTTP status 200 from ${url}, found ${statusCode}\n`);
    return 1;
  } catch (error) {
    io.stderr.write(`healthcheck: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
};

function healthUrl(args: readonly string[], { environment }: CommandIo): string {
  const { flags } = parseCommandLine(args);
  const entries = [...environmentEntries(environment), ...flagEntries(flags)].filter(
    ({ path }) => path === 'web.listen_address',
  );
  throwIfAny(checkEntries(entries));
  const [address] = mergeEntries(entries).read('web.listen_address');
  return `http://${reachable(address?.host)}:${address?.port ?? 0}/-/healthy`;
}

/** A host to connect to, from one to listen on: every address includes the loopback one. */
function reachable(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
