import { startApp, type App } from '../app.ts';
import { readBuildInfo } from '../build-info.ts';
import { parseCommandLine } from '../config/command-line.ts';
import { helpText } from '../config/help.ts';
import type { Flags } from '../config/layers.ts';
import { ConfigurationSource } from '../config/configuration-source.ts';
import { ConfigError } from '../config/problem.ts';
import { createLogger } from '../log.ts';
import { startSimulator, type Simulator } from '../simulator/server.ts';
import { createWorld } from '../simulator/world.ts';
import { untilAborted, type Command, type CommandIo } from './command.ts';

const SERVICE_CODES = ['TESTING', 'STADIUM'];
const SECRET = 'demo-secret';
const SIMULATOR_PORT = 20_140;

/**
 * Runs simulator and exporter together on the loopback interface, and says where to look. Takes the flags of the
 * exporter, such as another `--web.listen-address`.
 */
export const demo: Command = async (args, io) => {
  try {
    const { flags, help } = parseCommandLine(args);
    if (help) {
      io.stdout.write(helpText());
      return 0;
    }
    await using simulator = await simulate(io);
    await using app = await exportFrom(simulator, flags, io);
    io.stdout.write(welcome(simulator, app));
    await Promise.race([app.failure, untilAborted(io.signal)]);
    io.stdout.write('Ending.\n');
    return 0;
  } catch (error) {
    io.stderr.write(`demo: ${explain(error)}\n`);
    return error instanceof ConfigError ? 2 : 1;
  }
};

/** On the usual port, or where that is taken on any. */
async function simulate({ clock }: CommandIo): Promise<Simulator> {
  const world = createWorld({ seed: 1, startedAtMs: clock.now(), users: 1000, tasks: 100 });
  const options = {
    world,
    codes: new Map(SERVICE_CODES.map((serviceCode) => [serviceCode, SECRET])),
    clock,
    clockToleranceMs: 5 * 60 * 1000,
    gzip: true,
    control: true,
  };
  try {
    return await startSimulator({ ...options, listen: { host: '127.0.0.1', port: SIMULATOR_PORT } });
  } catch (error) {
    if (!isAddressTaken(error)) throw error;
    return await startSimulator({ ...options, listen: { host: '127.0.0.1', port: 0 } });
  }
}

async function exportFrom(simulator: Simulator, flags: Flags, io: CommandIo): Promise<App> {
  const source = new ConfigurationSource({
    flags: new Map([
      ['upstream.base_url', simulator.url],
      ['service_codes', SERVICE_CODES.join(',')],
      ['poll.interval', '5s'],
      ['metrics.per_task', 'true'],
      ['web.listen_address', '127.0.0.1:20928'],
      ['log.format', 'pretty'],
      ...flags,
    ]),
    env: { XVS_SECRET: SECRET },
    hostName: io.hostName,
    ...io.files,
  });
  const { configuration } = await source.load();
  const logger = createLogger({ ...configuration.log, destination: io.stderr });
  const build = readBuildInfo(io.environment);
  return await startApp(configuration, { clock: io.clock, logger, build, source });
}

function isAddressTaken(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
}

function explain(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return isAddressTaken(error)
    ? `${message}; another one: npm run demo -- --web.listen-address=:20929`
    : message;
}

function welcome(simulator: Simulator, app: App): string {
  const [address] = app.addresses;
  const exporter = `http://${address?.host ?? ''}:${address?.port ?? ''}`;
  return `
The simulated service runs at ${simulator.url}
The exporter polls it every 5 seconds for ${SERVICE_CODES.join(' and ')}. Look at

  ${exporter}/          the status page
  ${exporter}/metrics   what Prometheus scrapes

Break the service, and mend it, from another terminal:

  curl -X PUT ${simulator.url}/-/faults -d '{"fault":"ret","value":1001}'
  curl -X DELETE ${simulator.url}/-/faults

Ctrl-C ends both.

`;
}
