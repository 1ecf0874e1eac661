import { startApp } from '../../../src/app.ts';
import type { Configuration } from '../../../src/config/configuration.ts';
import { serveCommands, createUsageHandlers } from './command-server.ts';
import { DEPENDENCIES, readConfiguration } from './exporter-dependencies.ts';

/** Sets the interval, which may be shorter than a configuration allows. */
function withInterval(configuration: Configuration, intervalMs: number): Configuration {
  return {
    ...configuration,
    serviceCodes: configuration.serviceCodes.map((code) => ({ ...code, intervalMs })),
  };
}

/** Runs the exporter as the program does: `[intervalMs]`. */
async function run([intervalMs]: readonly string[]): Promise<void> {
  const configuration = await readConfiguration();
  const app = await startApp(
    intervalMs === undefined ? configuration : withInterval(configuration, Number(intervalMs)),
    DEPENDENCIES,
  );
  const [address] = app.addresses;
  serveCommands({
    address: () => ({ url: `http://127.0.0.1:${address?.port}` }),
    ...createUsageHandlers(),
  });
  await app.failure;
}

await run(process.argv.slice(2));
