import { startApp, type App } from '../app.ts';
import { readBuildInfo } from '../build-info.ts';
import { loadConfiguration } from '../config/loading.ts';
import { createLogger } from '../log.ts';
import { startSimulator, type Simulator } from '../simulator/server.ts';
import { createWorld } from '../simulator/world.ts';
import { untilAborted, type Command, type CommandIo } from './command.ts';

const SECRETS = new Map([
  ['TESTING', 'demo-secret'],
  ['STADIUM', 'demo-secret'],
]);

/** Runs simulator and exporter together on the loopback interface, and says where to look. */
export const demo: Command = async (args, io) => {
  if (args.length > 0) {
    io.stderr.write(`demo: expected no arguments, found ${args.length}\n`);
    return 2;
  }
  try {
    await using simulator = await simulate(io);
    await using app = await exportFrom(simulator, io);
    io.stdout.write(welcome(simulator, app));
    await Promise.race([app.failure, untilAborted(io.signal)]);
    io.stdout.write('\nEnding.\n');
    return 0;
  } catch (error) {
    // A port that is taken is the usual reason.
    io.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
};

async function simulate({ clock }: CommandIo): Promise<Simulator> {
  const world = createWorld({ seed: 1, startedAtMs: clock.now(), users: 1000, tasks: 100 });
  return await startSimulator({
    listen: { host: '127.0.0.1', port: 20140 },
    world,
    codes: SECRETS,
    clock,
    clockToleranceMs: 5 * 60 * 1000,
    gzip: true,
    control: true,
  });
}

async function exportFrom(
  simulator: Simulator,
  { environment, readFile, stderr, clock }: CommandIo,
): Promise<App> {
  const configuration = await loadConfiguration({
    flags: new Map([
      ['upstream.base_url', simulator.url],
      ['service_codes', [...SECRETS.keys()].join(',')],
      ['poll.interval', '5s'],
      ['metrics.per_task', 'true'],
      ['web.listen_address', '127.0.0.1:20928'],
      ['log.format', 'logfmt'],
    ]),
    env: { XVS_SECRET: 'demo-secret' },
    readFile,
  });
  const logger = createLogger({ ...configuration.log, destination: stderr });
  return await startApp(configuration, { clock, logger, build: readBuildInfo(environment) });
}

function welcome(simulator: Simulator, app: App): string {
  const exporter = app.addresses.map(({ host, port }) => `http://${host}:${port}`).join(', ');
  return `
The simulated service runs at ${simulator.url}
The exporter polls it every 5 seconds for ${[...SECRETS.keys()].join(' and ')}. Look at

  ${exporter}/          the status page
  ${exporter}/metrics   what Prometheus scrapes

Break the service, and mend it, from another terminal:

  curl -X PUT ${simulator.url}/-/faults -d '{"fault":"ret","ret":1001}'
  curl -X DELETE ${simulator.url}/-/faults

Ctrl-C ends both.

`;
}
