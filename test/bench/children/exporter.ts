import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startApp } from '../../../src/app.ts';
import type { Configuration } from '../../../src/config/configuration.ts';
import { serveCommands, createUsageHandlers } from './command-server.ts';
import { DEPENDENCIES, readConfiguration } from './exporter-dependencies.ts';

/** Polls one upon the other where `intervalMs` says so: more often than a configuration can ask for. */
function withInterval(configuration: Configuration, intervalMs: number): Configuration {
  return {
    ...configuration,
    serviceCodes: configuration.serviceCodes.map((code) => ({ ...code, intervalMs })),
  };
}

/** The exporter at work, as the program runs it: `[intervalMs]`. */
async function run([intervalMs]: readonly string[]): Promise<void> {
  const configuration = await readConfiguration();
  const app = await startApp(
    intervalMs === undefined ? configuration : withInterval(configuration, Number(intervalMs)),
    DEPENDENCIES,
  );
  const [address] = app.addresses;
  const turns = monitorEventLoopDelay({ resolution: 1 });
  serveCommands({
    address: () => ({ url: `http://127.0.0.1:${address?.port}` }),
    ...createUsageHandlers(),
    /** Wakes the process at each millisecond: not to be on where its processor time is measured. */
    watchTurns: () => {
      turns.reset();
      turns.enable();
      return {};
    },
    longestTurn: () => ({ longestTurnMs: turns.max / 1e6 - 1 }),
  });
  await app.failure;
}

await run(process.argv.slice(2));
