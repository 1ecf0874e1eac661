import { createExporterView } from './exporter-view.ts';
import type { BuildInfo } from './build-info.ts';
import type { Clock } from './clock.ts';
import type { Configuration } from './config/configuration.ts';
import type { Logger } from './log.ts';
import { Exposition } from './metrics/exposition.ts';
import { SelfMetrics } from './metrics/self.ts';
import { newTally, Poller, type PolledCode } from './poller/poller.ts';
import { Store } from './poller/store.ts';
import { machineFiles } from './state/file-system.ts';
import { openState } from './state/open-state.ts';
import { StateKeeper } from './state/state-keeper.ts';
import type { Tally } from './tally/tally.ts';
import { UpstreamClient } from './upstream/client.ts';
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
  readonly self: SelfMetrics;
  readonly view: ExporterView;
}

/** Puts the parts together; nothing runs yet. `restored`: tallies that go on from an earlier process. */
export function createExporter(
  configuration: Configuration,
  { clock, logger, build }: Outside,
  restored: ReadonlyMap<string, Tally> = new Map(),
): Exporter {
  const { upstream, metrics } = configuration;
  const self = new SelfMetrics({ clock, ...build });
  const store = new Store();
  const client = new UpstreamClient({ ...upstream, userAgent: `xvs-exporter/${build.version}`, clock });
  const codes = polledCodes(configuration);
  const poller = new Poller({ codes, metrics, restored, client, store, self, clock, logger });
  self.configLoaded(true);
  return {
    poller,
    store,
    self,
    view: createExporterView({ store, self, poller, clock, version: build.version }),
    [Symbol.asyncDispose]: async () => {
      await poller[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      self[Symbol.dispose]();
    },
  };
}

function polledCodes({ serviceCodes, signing }: Configuration): PolledCode[] {
  return serviceCodes.map(({ intervalMs, staleAfterMs, stallAfterMs, ...target }) => ({
    target: { ...target, signing },
    intervalMs,
    staleAfterMs,
    stallAfterMs,
  }));
}

/** The exporter at work: polling, and listening. */
export interface App extends AsyncDisposable {
  readonly addresses: WebServer['addresses'];
  /** Never resolves; rejects when something is wrong with the program. */
  readonly failure: Promise<never>;
}

/** Starts the exporter. Rejects where it cannot listen, or cannot keep the state that it is to keep. */
export async function startApp(configuration: Configuration, outside: Outside): Promise<App> {
  const exporter = createExporter(configuration, outside, await restoredTallies(configuration, outside));
  const keeper = keeperOf(exporter, configuration, outside);
  const { listenAddresses, telemetryPath, maxRequests } = configuration.web;
  const routes = { telemetryPath, exposition: new Exposition() };
  try {
    const web = await startWebServer({
      addresses: listenAddresses,
      maxRequests,
      handle: (request) => handle(request, exporter.view, routes),
      ...outside,
    });
    return {
      addresses: web.addresses,
      failure: Promise.race([exporter.poller.start(), ...(keeper === undefined ? [] : [keeper.start()])]),
      [Symbol.asyncDispose]: async () => {
        await web[Symbol.asyncDispose]();
        await exporter[Symbol.asyncDispose]();
        // After the last poll: what is kept then is all there is.
        await keeper?.[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await exporter[Symbol.asyncDispose]();
    throw error;
  }
}

/** What the state file says of the service codes that are polled. */
async function restoredTallies(
  configuration: Configuration,
  { clock, logger }: Outside,
): Promise<ReadonlyMap<string, Tally> | undefined> {
  const { state, metrics } = configuration;
  if (state.file === undefined) return undefined;
  const codes = new Map(polledCodes(configuration).map((code) => [code.target.serviceCode, code]));
  const tallyFor = (serviceCode: string): Tally | undefined => {
    const code = codes.get(serviceCode);
    return code === undefined ? undefined : newTally(code, metrics);
  };
  return await openState({ path: state.file, files: machineFiles, clock, logger, tallyFor });
}

function keeperOf(
  { poller, self }: Exporter,
  { state }: Configuration,
  { clock, logger }: Outside,
): StateKeeper | undefined {
  if (state.file === undefined) return undefined;
  return new StateKeeper({
    path: state.file,
    intervalMs: state.intervalMs,
    files: machineFiles,
    tallies: () => poller.tallies,
    metrics: self.trackState(),
    clock,
    logger,
  });
}
