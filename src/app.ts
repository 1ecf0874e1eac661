import { randomBytes } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { findWarnings, type Configuration } from './config/configuration.ts';
import type { ConfigurationSource } from './config/configuration-source.ts';
import { LOCAL_FILE_SYSTEM } from './config/file-system.ts';
import { watchFiles } from './config/watched-files.ts';
import { ExporterMetrics } from './metrics/exporter-metrics.ts';
import type { CodeDiff, PolledCode } from './poller/polled-code.ts';
import { createTally, Poller } from './poller/poller.ts';
import { openReaderPool, READER_KEY_BYTES } from './poller/reader-module.ts';
import { Store } from './poller/store.ts';
import { Reloader, warnAboutUnmatched, type ReloadOutcome, type ReloadTrigger } from './reloader.ts';
import { BackgroundTask, FirstFailure } from './runtime/background-task.ts';
import type { Clock } from './runtime/clock.ts';
import { MAX_ACCOUNTS } from './runtime/limits.ts';
import type { Logger } from './runtime/logger.ts';
import { StateStore } from './state/state-store.ts';
import { AccountBudget } from './tally/account-budget.ts';
import type { Tally } from './tally/tally.ts';
import { UpstreamClient, type ClientOptions } from './upstream/client.ts';
import { createExporterFacade, type ExporterFacade } from './web/exporter-facade.ts';
import { handle } from './web/routes.ts';
import {
  DEFAULT_WEB_CONFIGURATION_SOURCE,
  openWebConfiguration,
  watchWebConfiguration,
} from './web/security/web-configuration.ts';
import { startWebServer, type WebServer } from './web/server.ts';

export interface BuildInfo {
  readonly version: string;
  /** Git revision; `unknown` outside the image. */
  readonly revision: string;
  readonly nodeVersion: string;
  /** How the process was started, without arguments. */
  readonly command: readonly string[];
  /** Sections are named after alerts. */
  readonly runbookUrl: string;
}

/** Dependencies of the exporter on its process. */
export interface ExporterDependencies {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly build: BuildInfo;
  /** Where the logger writes. */
  readonly log?: { readonly droppedLines: number };
}

export interface Exporter extends AsyncDisposable {
  readonly poller: Poller;
  readonly store: Store;
  readonly exporterMetrics: ExporterMetrics;
  readonly facade: ExporterFacade;
  /** Applies the reloadable settings of a configuration. Calls must not overlap. */
  apply(configuration: Configuration): Promise<CodeDiff>;
}

/** Runs nothing. `stateStore` is `undefined` without state, `accountBudget` that of its tallies. */
export function createExporter(
  configuration: Configuration,
  dependencies: ExporterDependencies,
  stateStore?: StateStore,
  accountBudget: AccountBudget = new AccountBudget(MAX_ACCOUNTS),
): Exporter {
  const { clock, logger, log, build } = dependencies;
  const { metrics, ledger, shard } = configuration;
  let { upstream, codesOnOtherShards } = configuration;

  const state = stateStore?.statistics;
  const isStateOpen = configuration.state && stateStore !== undefined;
  const getClientCertificateNotAfterMs = () => upstream.certificateNotAfterMs;
  const numbers = { clock, accountBudget, state, isStateOpen, getClientCertificateNotAfterMs };
  const exporterMetrics = new ExporterMetrics({ shard, log, ...numbers, ...build });
  const store = new Store();
  const client = new UpstreamClient({ ...toClientOptions(upstream, build), clock });
  const poller = new Poller({
    codes: toPolledCodes(configuration),
    tallySettings: { ...metrics, ...ledger, accountBudget },
    persistence: stateStore,
    client,
    readers: openReaderPool(metrics.maxLabelSets, randomBytes(READER_KEY_BYTES)),
    store,
    pollDurations: exporterMetrics.pollDurations,
    clock,
    logger,
  });
  const facade = createExporterFacade({
    store,
    exporterMetrics,
    poller,
    configuration,
    build,
    ...numbers,
    getCodesOnOtherShards: () => codesOnOtherShards,
  });

  return {
    poller,
    store,
    exporterMetrics,
    facade,
    apply: async (next) => {
      if (!isDeepStrictEqual(next.upstream, upstream))
        client.configure(toClientOptions(next.upstream, build));
      ({ upstream, codesOnOtherShards } = next);
      return await poller.apply(toPolledCodes(next));
    },
    [Symbol.asyncDispose]: async () => {
      await poller[Symbol.asyncDispose]();
      await client[Symbol.asyncDispose]();
      exporterMetrics[Symbol.dispose]();
    },
  };
}

export function toClientOptions(upstream: Configuration['upstream'], { version }: BuildInfo): ClientOptions {
  return { ...upstream, userAgent: `xvs-exporter/${version}` };
}

export function toPolledCodes({ serviceCodes, signing }: Configuration): readonly PolledCode[] {
  return serviceCodes.map((code) => ({ ...code, signing }));
}

export interface App extends AsyncDisposable {
  readonly addresses: WebServer['addresses'];
  /** Never resolves; rejects with the first unexpected error, which is a bug. */
  readonly failure: Promise<never>;
  /** Reads the configuration again and applies its reloadable settings. Never rejects. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>;
}

export interface AppDependencies extends ExporterDependencies {
  readonly source: ConfigurationSource;
}

/** Starts the exporter. Rejects with a ConfigError if it cannot listen or use the folder of the state. */
export async function startApp(configuration: Configuration, dependencies: AppDependencies): Promise<App> {
  const { source, clock, logger } = dependencies;
  const { last } = source;
  warnAboutUnmatched(last?.unmatchedPatterns ?? [], logger);
  const accountBudget = new AccountBudget(MAX_ACCOUNTS);
  const stateStore = await openStateStore(configuration, dependencies, accountBudget);
  const exporter = createExporter(configuration, dependencies, stateStore, accountBudget);
  const { poller, exporterMetrics, facade } = exporter;
  const failure = new FirstFailure();
  exporterMetrics.recordConfigLoad(true, last?.codeFiles);
  const warnings = [...findWarnings(configuration, clock.now())];
  const onInternalError = failure.report;
  const reloader = new Reloader({ source, exporter, logger, clock, warnings, onInternalError });
  const runInBackground = (run: (signal: AbortSignal) => Promise<never>) =>
    new BackgroundTask(run, failure.report);
  try {
    const { configFile } = configuration.web;
    const webConfigurationSource =
      configFile === undefined
        ? DEFAULT_WEB_CONFIGURATION_SOURCE
        : await openWebConfiguration(configFile, LOCAL_FILE_SYSTEM, clock, logger);
    const polling = poller.start();
    const reload = configuration.web.isLifecycleEnabled ? () => reloader.reload('request') : undefined;
    const routes = { reload };
    const web = await startWebServer({
      passwordKey: randomBytes(32),
      ...configuration.web,
      addresses: configuration.web.listenAddresses,
      webConfigurationSource,
      metrics: exporterMetrics.web,
      handle: (request) => handle(request, facade, routes),
      clock,
      logger,
    });
    const onFileChange = () => reloader.reload('file');
    const parts: readonly AsyncDisposable[] = [
      web,
      reloader,
      poller,
      runInBackground((signal) => poller.watchHealth(signal)),
      runInBackground((signal) => watchFiles(source, clock, onFileChange, signal)),
      ...(configFile === undefined
        ? []
        : [runInBackground((signal) => watchWebConfiguration(webConfigurationSource, clock, signal))]),
    ];
    return {
      addresses: web.addresses,
      failure: Promise.race([failure.promise, polling, stateStore?.failure ?? failure.promise]),
      reload: (trigger) => reloader.reload(trigger),
      [Symbol.asyncDispose]: async () => {
        // Requests in progress are answered from the last snapshots meanwhile.
        await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
        await exporter[Symbol.asyncDispose]();
        // After the last poll: its listing is written, too.
        await stateStore?.writeMissing(poller.tallies);
        await stateStore?.[Symbol.asyncDispose]();
      },
    };
  } catch (error) {
    await exporter[Symbol.asyncDispose]();
    await stateStore?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** Opens the state, if there is one, and restores the tallies of the polled service codes. */
async function openStateStore(
  configuration: Configuration,
  { clock, logger }: AppDependencies,
  accountBudget: AccountBudget,
): Promise<StateStore | undefined> {
  const { metrics, ledger, state, codesOnOtherShards } = configuration;
  if (state === undefined) return undefined;
  const codes = new Map(toPolledCodes(configuration).map((code) => [code.serviceCode, code]));
  const createTallyOf = (serviceCode: string): Tally | undefined => {
    const code = codes.get(serviceCode);
    return code && createTally(code, { ...metrics, ...ledger, accountBudget });
  };
  const options = { path: state.path, clock, logger };
  const configured = { createTally: createTallyOf, codesOnOtherShards };
  return state.isDefault
    ? await StateStore.openDefault(options, configured)
    : await StateStore.open(options, configured);
}
