import { startApp, type App } from '../app.ts';
import { formatLocalAddress } from '../config/addresses.ts';
import { ConfigurationSource } from '../config/configuration-source.ts';
import type { SettingPath } from '../config/settings.ts';
import type { Flags } from '../config/sources.ts';
import { waitForAbort } from '../runtime/abort.ts';
import { readBuildInfo } from '../runtime/build-info.ts';
import { getErrorCode } from '../runtime/errors.ts';
import { createLogger } from '../runtime/logger.ts';
import { startSimulator, type Simulator } from '../simulator/server.ts';
import { createWorld } from '../simulator/world.ts';
import { printErrors, type CommandIo } from './command.ts';
import { parseCommandLine } from './command-line.ts';

const USAGE = `Usage: xvs-exporter demo [flags]

Runs a simulated service on 127.0.0.1:20140 and an exporter that polls it, until Ctrl-C.

  --web.listen-address=<comma-separated addresses>
        Addresses of the exporter. [default 127.0.0.1:20928]
  --poll.interval=<duration>
        Time between two polls. [default 5s]

All flags of xvs-exporter --help apply, too.
`;

const SERVICE_CODES = ['TESTING', 'STADIUM'];
const STREAMS = ['main', 'backup'];
const SECRET = 'demo-secret';
const SIMULATOR_PORT = 20_140;

/** Runs simulator and exporter together on the loopback interface. Takes the flags of the exporter. */
export const demo = printErrors('demo', async (args, io) => {
  const { flags, others } = parseCommandLine(args);
  if (others.has('help')) {
    io.stdout.write(USAGE);
    return 0;
  }
  await using simulator = await startDemoSimulator(io);
  await using app = await startDemoExporter(simulator, flags, io);
  io.stdout.write(formatWelcome(simulator, app));
  await Promise.race([app.failure, waitForAbort(io.signal)]);
  io.stdout.write('Shutting down.\n');
  return 0;
});

/** Listens on the default port of `simulate`, or on any free port if that is taken. */
async function startDemoSimulator({ clock }: CommandIo): Promise<Simulator> {
  const options = {
    world: createWorld({ seed: 1, startedAtMs: clock.now(), users: 1000, tasks: 100, streams: STREAMS }),
    secretsByServiceCode: new Map(SERVICE_CODES.map((serviceCode) => [serviceCode, SECRET])),
    clock,
    clockToleranceMs: 5 * 60 * 1000,
    isGzipEnabled: true,
    isControlApiEnabled: true,
  };
  try {
    return await startSimulator({ ...options, listenAddress: { host: '127.0.0.1', port: SIMULATOR_PORT } });
  } catch (error) {
    if (getErrorCode(error) !== 'EADDRINUSE') throw error;
    return await startSimulator({ ...options, listenAddress: { host: '127.0.0.1', port: 0 } });
  }
}

async function startDemoExporter(simulator: Simulator, flags: Flags, io: CommandIo): Promise<App> {
  const source = new ConfigurationSource({
    flags: new Map<SettingPath, unknown>([
      ['upstream.base_url', simulator.url],
      ['service_codes', SERVICE_CODES.map((service_code) => ({ service_code, expect: { names: STREAMS } }))],
      ['poll.interval', '5s'],
      ['poll.stall_after', '20s'],
      ['tasks.name', 'opaque.room'],
      ['metrics.per_task', 'true'],
      ['web.listen_address', '127.0.0.1:20928'],
      ...flags,
    ]),
    env: { XVS_SECRET: SECRET },
    hostName: io.hostName,
    ...io.files,
  });
  const { configuration } = await source.load();
  const logger = createLogger({ ...configuration.log, destination: io.log });
  const build = readBuildInfo(io.environment);
  return await startApp(configuration, { clock: io.clock, logger, log: io.log, build, source });
}

function formatWelcome(simulator: Simulator, app: App): string {
  const [address] = app.addresses;
  const exporterUrl = `http://${formatLocalAddress(address ?? { host: undefined, port: 0 })}`;
  return `
The simulated service runs at ${simulator.url}
The exporter polls it every 5 seconds for ${SERVICE_CODES.join(' and ')}, with the secret ${SECRET}.
Metrics for each task are on. Open

  ${exporterUrl}/          the status page
  ${exporterUrl}/metrics   what Prometheus scrapes

Inject a fault and remove it, from another terminal:

  curl -X PUT ${simulator.url}/-/faults -d '{"fault":"ret","value":1001}'
  curl -X DELETE ${simulator.url}/-/faults

Stop a stream that is expected; 20 seconds later, xvs_expected_task_up{task_name="main"} is 0:

  curl -X PUT ${simulator.url}/-/faults -d '{"fault":"freeze_ingest","name":"main"}'

Press Ctrl-C to stop both.

`;
}
