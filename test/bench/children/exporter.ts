import { monitorEventLoopDelay } from 'node:perf_hooks';
import { startApp } from '../../../src/app.ts';
import type { Configuration } from '../../../src/config/configuration.ts';
import { answer, watchUsage } from './answering.ts';
import { OUTSIDE, readConfiguration } from './exporting.ts';

/** Polls one upon the other where `intervalMs` says so: more often than a configuration can ask for. */
function hurried(configuration: Configuration, intervalMs: number): Configuration {
  return {
    ...configuration,
    serviceCodes: configuration.serviceCodes.map((code) => ({ ...code, intervalMs })),
  };
}

/** The exporter at work, as the program runs it: `[intervalMs]`. */
async function run([intervalMs]: readonly string[]): Promise<void> {
  const configuration = await readConfiguration();
  const app = await startApp(
    intervalMs === undefined ? configuration : hurried(configuration, Number(intervalMs)),
    OUTSIDE,
  );
  const [address] = app.addresses;
  const turns = monitorEventLoopDelay({ resolution: 1 });
  answer({
    address: () => ({ url: `http://127.0.0.1:${address?.port}` }),
    ...watchUsage(),
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
