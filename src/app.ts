import { readFile } from 'node:fs/promises';
import { isDeepStrictEqual } from 'node:util';
import { createExporterView } from './exporter-view.ts';
import type { BuildInfo } from './build-info.ts';
import type { Clock } from './clock.ts';
import type { Configuration, WebSettings } from './config/configuration.ts';
import type { ConfigurationSource } from './config/configuration-source.ts';
import { watchFiles } from './config/file-watch.ts';
import type { ReloadOutcome, ReloadTrigger } from './config/reloader.ts';
import { FirstFailure } from './first-failure.ts';
import type { Logger } from './log.ts';
import { Loop } from './loop.ts';
import { CodeLabels } from './metrics/code-labels.ts';
import { Exposition } from './metrics/exposition.ts';
import { SelfMetrics } from './metrics/self.ts';
import type { PolledCode } from './poller/polled-code.ts';
import { Poller } from './poller/poller.ts';
import { ScrapeDrivenPolls, type ScrapeLimits } from './poller/scrape-driven.ts';
import type { WatchListing } from './poller/service-code-poller.ts';
import { Store } from './poller/store.ts';
import { Watchdog } from './poller/watchdog.ts';
import { createReloader, type AppliedDifference } from './reloading.ts';
import { createKeeper, restoreTallies } from './state-keeping.ts';
import type { Tally } from './tally/tally.ts';
import { UpstreamClient } from './upstream/client.ts';
import { ReplaceableClient } from './upstream/replaceable-client.ts';
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
  /** Is given each listing when reading it begins. */
  readonly watchListing?: WatchListing;
}

/** The exporter without its web server: polls on demand, until it is disposed of. */
export interface Exporter extends AsyncDisposable {
  readonly poller: Poller;
  readonly store: Store;
  readonly self: SelfMetrics;
  readonly watchdog: Watchdog;
  readonly view: ExporterView;
  /** Takes over what can change of a configuration while the exporter runs; one call at a time. */
  apply(configuration: Configuration): Promise<AppliedDifference>;
}

/** Puts the parts together; nothing runs yet. `restored`: tallies that go on from an earlier process. */
export function createExporter(
  configuration: Configuration,
  outside: Outside,
  restored?: ReadonlyMap<string, Tally>,
): Exporter {
  const { clock, logger, build, watchListing } = outside;
  const { metrics, shard } = configuration;
  const labels = new CodeLabels();
  labels.set(configuration.serviceCodes);
  const self = new SelfMetrics({ clock, shard, labels, ...build });
  const store = new Store(labels);
  let { upstream, elsewhere } = configuration;
  const client = new ReplaceableClient(clientFor(upstream, outside));
  const codes = codesOf(configuration);
  const scrapeDriven =
    configuration.poll.mode === 'scrape'
      ? new ScrapeDrivenPolls(clock, scrapeLimitsOf(configuration))
      : undefined;
  const poller = new Poller({
    codes,
    metrics,
    ...(restored !== undefined && { restored }),
    client,
    store,
    self,
    clock,
    logger,
    watchListing,
    drive: scrapeDriven?.drive,
  });
  const standingStill = (nowMs: number): readonly string[] => poller.standingStill(nowMs);
  const watchdog = new Watchdog({ standingStill, clock, logger });
  self.configLoaded(true);
  return {
    poller,
    store,
    self,
    watchdog,
    view: createExporterView({
      store,
      labels,
      self,
      poller,
      scrapeDriven,
      watchdog,
      clock,
      shard,
      version: build.version,
      elsewhere: () => elsewhere,
    }),
    apply: async (next) => {
      if (!isDeepStrictEqual(next.upstream, upstream)) client.replace(clientFor(next.upstream, outside));
      ({ upstream, elsewhere } = next);
      scrapeDriven?.configure(scrapeLimitsOf(next));
      return await applyCodes(next, poller, labels);
    },
    [Symbol.asyncDispose]: async () => {
      await poller[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      self[Symbol.dispose]();
    },
  };
}

/** Whatever comes, comes with its labels, and whatever goes keeps them until it has gone. */
async function applyCodes(
  configuration: Configuration,
  poller: Poller,
  labels: CodeLabels,
): Promise<AppliedDifference> {
  const relabelled = new Set(labels.set(configuration.serviceCodes));
  const difference = await poller.apply(codesOf(configuration));
  labels.keepOnly(configuration.serviceCodes);
  const stayed = [...difference.kept, ...difference.changed];
  return {
    ...difference,
    relabelled: stayed.filter(({ target }) => relabelled.has(target.serviceCode)),
  };
}

function clientFor(upstream: Configuration['upstream'], { clock, build }: Outside): UpstreamClient {
  return new UpstreamClient({ ...upstream, userAgent: `xvs-exporter/${build.version}`, clock });
}

function scrapeLimitsOf({ poll, upstream }: Configuration): ScrapeLimits {
  return { minAgeMs: poll.minAgeMs, maxPolls: upstream.maxConnections };
}

function codesOf({ serviceCodes, signing }: Configuration): readonly PolledCode[] {
  return serviceCodes.map((code) => {
    const { serviceCode, baseUrl, secret, timeoutMs, intervalMs, staleAfterMs, stallAfterMs } = code;
    const target = { serviceCode, baseUrl, secret, timeoutMs, signing };
    return { target, intervalMs, staleAfterMs, stallAfterMs };
  });
}

/** The exporter at work: polling, and listening. */
export interface App extends AsyncDisposable {
  readonly addresses: WebServer['addresses'];
  /** Never resolves; rejects when something is wrong with the program. */
  readonly failure: Promise<never>;
  /** Reads the configuration again, and takes over what can change. Never rejects. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>;
}

/** The outside of an exporter whose configuration can be read again. */
export interface AppOutside extends Outside {
  readonly source: ConfigurationSource;
}

/** Starts the exporter. Rejects where it cannot listen, or cannot keep the state that it is to keep. */
export async function startApp(configuration: Configuration, outside: AppOutside): Promise<App> {
  const restored = await restoreTallies(codesOf(configuration), configuration, outside);
  const exporter = createExporter(configuration, outside, restored);
  const keeper = createKeeper(exporter, configuration, outside);
  const failure = new FirstFailure();
  const reloader = createReloader({ exporter, ...outside, broken: failure.report });
  const { listenAddresses, telemetryPath, maxRequests, maxConnections, opensProbes, enableLifecycle } =
    configuration.web;
  const reload = enableLifecycle ? () => reloader.reload('request') : undefined;
  const routes = { telemetryPath, exposition: new Exposition(), reload };
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
    const loops = [
      (signal: AbortSignal) => exporter.watchdog.run(signal),
      (signal: AbortSignal) => watchFiles({ ...outside, changed: () => reloader.reload('file') }, signal),
    ];
    const background = [reloader, exporter.poller, ...loops.map((run) => new Loop(run, failure.report))];
    return {
      addresses: web.addresses,
      failure: Promise.race([
        failure.promise,
        exporter.poller.start(),
        ...(keeper === undefined ? [] : [keeper.start()]),
      ]),
      reload: (trigger) => reloader.reload(trigger),
      [Symbol.asyncDispose]: async () => {
        // Scrapes in flight are answered meanwhile: from what is known.
        await Promise.all([web, ...background].map((part) => part[Symbol.asyncDispose]()));
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
