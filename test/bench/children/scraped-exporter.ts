import { setTimeout as delay } from 'node:timers/promises';
import { createExporter } from '../../../src/app.ts';
import { handle } from '../../../src/web/routes.ts';
import { DEFAULT_WEB_CONFIGURATION_SOURCE } from '../../../src/web/security/web-configuration.ts';
import { startWebServer } from '../../../src/web/server.ts';
import { getCpuMs, serveCommands } from './command-server.ts';
import { DEPENDENCIES, readConfiguration } from './exporter-dependencies.ts';

/** Longer than the exporter keeps the metrics of its process. */
const SKIPPED_MS = 10_000;
/** Work that a poll leaves to later turns of the event loop must not count as a scrape. */
const SETTLE_MS = 20;

/** The exporter with its web server. It polls on command only, so that polls do not count as scrapes. */
async function run(): Promise<void> {
  const configuration = await readConfiguration();
  const { clock } = DEPENDENCIES;
  let skippedMs = 0;
  const dependencies = {
    ...DEPENDENCIES,
    clock: { ...clock, monotonic: () => clock.monotonic() + skippedMs },
  };
  const { facade, poller, store, exporterMetrics } = createExporter(configuration, dependencies);
  const web = await startWebServer({
    passwordKey: Buffer.alloc(32),
    addresses: configuration.web.listenAddresses,
    maxRequests: 100,
    metrics: exporterMetrics.web,
    hasOpenProbes: false,
    webConfigurationSource: DEFAULT_WEB_CONFIGURATION_SOURCE,
    handle: (request) => handle(request, facade, {}),
    ...dependencies,
  });
  serveCommands({
    address: () => ({ url: `http://127.0.0.1:${web.addresses[0]?.port}` }),
    cpu: getCpuMs,
    /** Polls, and lets the metrics of the process expire. */
    change: async () => {
      await poller.pollOnce(new AbortController().signal);
      const [state] = store.states;
      if (state?.lastPoll === undefined || state.failure !== undefined)
        throw new Error(`Expected a good poll, found ${state?.failure?.reason}`);
      skippedMs += SKIPPED_MS;
      await delay(SETTLE_MS);
      return getCpuMs();
    },
  });
}

await run();
