import { Agent, request } from 'undici';
import { parseCommandLine } from '../config/command-line.ts';
import { checkEntries, environmentEntries, flagEntries, mergeEntries } from '../config/layers.ts';
import { ConfigError, throwIfAny } from '../config/problem.ts';
import { PLAIN_HTTP_TO_TLS } from '../web/door.ts';
import type { Command, CommandIo } from './command.ts';

const TIMEOUT_MS = 5000;

/**
 * Asks the exporter of this machine whether it is healthy: exit code 0 if so, 1 if not. It takes
 * `--web.listen-address` from flag or environment and reads no configuration file: a file that has become
 * wrong does not make a running exporter sick. An exporter with TLS says so, and is asked again with it, whatever its
 * certificate: it is on this machine, and nothing secret is sent. Where it wants a password or a client certificate,
 * `web.open_probes` has to let probes in.
 */
export const healthcheck: Command = async (args, io) => {
  try {
    const address = healthAddress(args, io);
    const signal = AbortSignal.any([io.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const plain = await ask(`http://${address}`, signal);
    const answer = plain.body.startsWith(PLAIN_HTTP_TO_TLS) ? await ask(`https://${address}`, signal) : plain;
    if (answer.status === 200) return 0;
    const hint = [401, 403].includes(answer.status) ? '; web.open_probes lets probes in' : '';
    io.stderr.write(
      `healthcheck: expected HTTP status 200 from ${answer.url}, found ${answer.status}${hint}\n`,
    );
    return 1;
  } catch (error) {
    io.stderr.write(`healthcheck: ${error instanceof Error ? error.message : String(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
};

async function ask(
  url: string,
  signal: AbortSignal,
): Promise<{ readonly url: string; readonly status: number; readonly body: string }> {
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } });
  try {
    const { statusCode: status, body } = await request(url, { signal, dispatcher });
    return { url, status, body: await body.text() };
  } finally {
    await dispatcher.destroy();
  }
}

function healthAddress(args: readonly string[], { environment }: CommandIo): string {
  const { flags } = parseCommandLine(args);
  const entries = [...environmentEntries(environment), ...flagEntries(flags)].filter(
    ({ path }) => path === 'web.listen_address',
  );
  throwIfAny(checkEntries(entries));
  const [address] = mergeEntries(entries).read('web.listen_address');
  return `${reachable(address?.host)}:${address?.port ?? 0}/-/healthy`;
}

/** A host to connect to, from one to listen on: every address includes the loopback one. */
function reachable(host: string | undefined): string {
  if (host === undefined || host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}
