import { readFile } from 'node:fs/promises';
import { createExporterView } from './exporter-view.ts';
import type { BuildInfo } from './build-info.ts';
import type { Clock } from './clock.ts';
import type { Configuration, WebSettings } from './config/configuration.ts';
import type { Logger } from './log.ts';
import { Exposition } from './metrics/exposition.ts';
import { SelfMetrics } from './metrics/self.ts';
import { Poller } from './poller/poller.ts';
import { Store } from './poller/store.ts';
import { UpstreamClient } from './upstream/client.ts';
import { OPEN_SOURCE, openWebConfiguration } from './web/config/web-configuration-source.ts';
import type { WebConfigurationSource } from './web/config/web-configuration-source.ts';
import { handle } from './web/routes.ts';
import { startWebServer, type WebServer } from './web/server.ts';
import type { ExporterView } from './web/view.ts';

/** What the exporter has of the world outside. */
export interface Outside {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly build: BuildInfo;
}

/** The exporter without its web server: polls on demand, until it is disposed of. */
export interface Exporter extends AsyncDisposable {
  readonly poller: Poller;
  readonly store: Store;
  readonly view: ExporterView;
}

/** Puts the parts together; nothing runs yet. */
export function createExporter(configuration: Configuration, { clock, logger, build }: Outside): Exporter {
  const { upstream, signing, serviceCodes, metrics } = configuration;
  const self = new SelfMetrics({ clock, ...build });
  const store = new Store();
  const client = new UpstreamClient({ ...upstream, userAgent: `xvs-exporter/${build.version}`, clock });
  const codes = serviceCodes.map(({ intervalMs, staleAfterMs, stallAfterMs, ...target }) => ({
    target: { ...target, signing },
    intervalMs,
    staleAfterMs,
    stallAfterMs,
  }));
  const poller = new Poller({ codes, metrics, client, store, self, clock, logger });
  self.configLoaded(true);
  return {
    poller,
    store,
    view: createExporterView({ store, self, poller, clock, version: build.version }),
    [Symbol.asyncDispose]: async () => {
      await poller[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      self[Symbol.dispose]();
    },
  };
}

/** The exporter at work: polling, and listening. */
export interface App extends AsyncDisposable {
  readonly addresses: WebServer['addresses'];
  /** Never resolves; rejects when something is wrong with the program. */
  readonly failure: Promise<never>;
}

/** Starts the exporter. Rejects with the system's error where it cannot listen. */
export async function startApp(configuration: Configuration, outside: Outside): Promise<App> {
  const exporter = createExporter(configuration, outside);
  const { listenAddresses, telemetryPath, maxRequests, maxConnections, opensProbes } = configuration.web;
  const routes = { telemetryPath, exposition: new Exposition() };
  try {
    const web = await startWebServer({
      addresses: listenAddresses,
      maxRequests,
      maxConnections,
      opensProbes,
      guardedBy: await guardOf(configuration.web, outside),
      handle: (request) => handle(request, exporter.view, routes),
      ...outside,
    });
    return {
      addresses: web.addresses,
      failure: exporter.poller.start(),
      [Symbol.asyncDispose]: async () => {
        await web[Symbol.asyncDispose]();
        await exporter[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await exporter[Symbol.asyncDispose]();
    throw error;
  }
}

/** How the web server guards itself, by its configuration file, where there is one. */
async function guardOf({ configFile }: WebSettings, outside: Outside): Promise<WebConfigurationSource> {
  if (configFile === undefined) return OPEN_SOURCE;
  const source = await openWebConfiguration({
    path: configFile,
    readFile: (path) => readFile(path, 'utf8'),
    ...outside,
  });
  const { tls, users } = await source.latest();
  outside.logger.info({ tls: tls !== undefined, users: users.size }, 'Web configuration loaded');
  return source;
}
