// Runs the simulator and an exporter that polls it, until Ctrl-C. The arguments are flags of the exporter.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { getErrorCode } from '../../src/runtime/errors.ts';
import { startSimulator, type Simulator } from './server.ts';
import { createWorld } from './world.ts';

const PROGRAM = fileURLToPath(new URL('../../../dist/main.js', import.meta.url));
const SERVICE_CODES = ['TESTING', 'STADIUM'];
/** They run at 4 Mbit/s and have three outputs. */
const STREAMS = ['main', 'backup'];
const SECRET = 'demo-secret';
const SIMULATOR_PORT = 20_140;

/** Listens on the default port of the simulator, or on any free port if that is taken. */
async function startDemoSimulator(): Promise<Simulator> {
  const options = {
    world: createWorld({ seed: 1, startedAtMs: Date.now(), users: 1000, tasks: 100, streams: STREAMS }),
    secretsByServiceCode: new Map(SERVICE_CODES.map((serviceCode) => [serviceCode, SECRET])),
  };
  try {
    return await startSimulator({ ...options, listenAddress: { host: '127.0.0.1', port: SIMULATOR_PORT } });
  } catch (error) {
    if (getErrorCode(error) !== 'EADDRINUSE') throw error;
    return await startSimulator(options);
  }
}

function createConfiguration(simulatorUrl: string): object {
  return {
    upstream: { base_url: simulatorUrl },
    secret: SECRET,
    service_codes: SERVICE_CODES.map((service_code) => ({
      service_code,
      expect: { names: STREAMS.map((name) => ({ name, min_input_rate: '3Mbit/s', outputs: 3 })) },
    })),
    poll: { interval: '5s', stall_after: '20s' },
    tasks: { name: 'opaque.room' },
    metrics: { per_task: true },
    web: { listen_address: '127.0.0.1:20928' },
    // The simulated world begins anew, too.
    state: { path: 'none' },
  };
}

function formatWelcome(simulatorUrl: string, exporterPort: string): string {
  return `
The simulated service runs at ${simulatorUrl}
The exporter polls it every 5 seconds for ${SERVICE_CODES.join(' and ')}, with the secret ${SECRET}.
Metrics for each task are on. Open

  http://127.0.0.1:${exporterPort}/          the status page
  http://127.0.0.1:${exporterPort}/metrics   what Prometheus scrapes

Inject a fault and remove it, from another terminal:

  curl -X PUT ${simulatorUrl}/-/faults -d '{"fault":"ret","value":1001}'
  curl -X DELETE ${simulatorUrl}/-/faults

Slow an expected stream to a third of its rate; within a minute, it is below its minimum. With freeze_ingest, it stops:

  curl -X PUT ${simulatorUrl}/-/faults -d '{"fault":"slow_ingest","name":"main"}'

Press Ctrl-C to stop both.

`;
}

/**
 * Runs an exporter with a configuration file until it ends, or until a signal ends it. Returns its exit code;
 * 0 after a signal.
 */
async function runExporter(file: string, simulatorUrl: string): Promise<number> {
  // A proxy of the environment cannot reach the simulator.
  const environment = Object.entries(process.env).filter(([name]) => !/^XVS_|^https?_proxy$/i.test(name));
  const exporter = spawn(process.execPath, [PROGRAM, `--config.file=${file}`, ...process.argv.slice(2)], {
    env: Object.fromEntries(environment),
    stdio: ['ignore', 'inherit', 'pipe'],
    // Ctrl-C reaches this process alone, which passes it on: a second signal would kill the exporter.
    detached: process.platform !== 'win32',
  });
  let isStopped = false;
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      if (!isStopped) exporter.kill();
      isStopped = true;
    });
  }
  const ended = once(exporter, 'exit');
  let isListening = false;
  for await (const line of createInterface({ input: exporter.stderr })) {
    process.stderr.write(`${line}\n`);
    const [, port] = /^(?=.*Listening).*\bport\W+(\d+)/.exec(line) ?? [];
    if (port !== undefined && !isListening) process.stdout.write(formatWelcome(simulatorUrl, port));
    isListening ||= port !== undefined;
  }
  const [code]: unknown[] = await ended;
  return isStopped ? 0 : Number(code ?? 1);
}

await using simulator = await startDemoSimulator();
const folder = mkdtempSync(join(tmpdir(), 'xvs-demo-'));
try {
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(createConfiguration(simulator.url), undefined, 2), { mode: 0o600 });
  process.exitCode = await runExporter(file, simulator.url);
} finally {
  rmSync(folder, { recursive: true });
}
