import { breakDownListing, type ListingBreakdown } from './status-page/listing-breakdown.ts';
import { CATALOGUE } from '../metrics/catalogue/catalogue.ts';
import type { CodeLabels } from '../metrics/exposition/code-labels.ts';
import type { Configuration } from '../config/configuration.ts';
import type { ConfigLoads, ExporterMetrics } from '../metrics/exposition/exporter-metrics.ts';
import { countSeries } from '../metrics/exposition/exposition.ts';
import type { Family, StaticLabels } from '../metrics/catalogue/family.ts';
import type { FamilySelection } from '../metrics/catalogue/family.ts';
import type { LatestListing, PollHistoryView } from '../poller/poll-history.ts';
import type { Poller } from '../poller/poller.ts';
import type { ScrapeTrigger } from '../poller/scrape-trigger.ts';
import {
  isStale,
  listExpectedTasksOf,
  type CodeState,
  type PollFailure,
  type Store,
} from '../poller/store.ts';
import type { Watchdog } from '../poller/watchdog.ts';
import type { Clock } from '../runtime/clock.ts';
import { selectShard } from '../sharding/rendezvous.ts';
import type { Shard } from '../sharding/shard.ts';
import type { ExpectedTask } from '../tally/expectations.ts';
import { PollWaits, type ClientScrape } from './poll-waits.ts';

/**
 * `waiting`: not polled yet; `down`: the last poll failed; `stale`: the last success is too old; `idle`: tasks run, but
 * no byte moved between the last two listings; `up`: otherwise.
 */
export type ServiceCodeCondition = 'down' | 'idle' | 'stale' | 'up' | 'waiting';

/** The status of one service code; unknown values are `undefined`. */
export interface ServiceCodeStatus {
  readonly serviceCode: string;
  readonly labels: StaticLabels;
  readonly condition: ServiceCodeCondition;
  /** Milliseconds since the Unix epoch. */
  readonly lastPollMs: number | undefined;
  /** Milliseconds since the Unix epoch. */
  readonly lastSuccessMs: number | undefined;
  /** Set while the last poll has failed. */
  readonly failure: PollFailure | undefined;
  /** `ret` of the last response. */
  readonly ret: number | undefined;
  /** HTTP status of the last response. */
  readonly httpStatus: number | undefined;
  /** Totals of the last good listing, unless it is stale; without rates if polls have failed since. */
  readonly totals: LatestListing | undefined;
  readonly history: PollHistoryView;
  /** The names that must run, and whether they do. */
  readonly expectedTasks: readonly ExpectedTask[];
  /** How many tasks must run, those with a name included. */
  readonly expectedTaskCount: number;
}

/** Where and when a service code is polled. */
export interface PollingStatus {
  /** Scheme, host and port of the service. */
  readonly origin: string;
  readonly intervalMs: number;
  /** In milliseconds since the Unix epoch; in the past while a poll runs; `undefined` until a scrape triggers it. */
  readonly nextPollMs: number | undefined;
  /** Whether the service asked for a pause until then (`Retry-After`). */
  readonly isPaused: boolean;
}

/** The state of the process. Times in milliseconds since the Unix epoch. */
export interface ProcessStatus extends ConfigLoads {
  readonly version: string;
  readonly shard: Shard;
  readonly uptimeMs: number;
}

/** Addresses that pages link to. */
export interface PageLinks {
  /** Without a trailing slash; `undefined` without `web.grafana_url`. */
  readonly grafanaUrl: string | undefined;
  readonly runbookUrl: string;
}

/** A service code that this process polls, with its configured labels. */
export interface PolledServiceCode {
  readonly serviceCode: string;
  readonly labels: StaticLabels;
}

/** The families of a scrape. */
export interface CollectedFamilies {
  readonly families: readonly Family[];
  /** Records that a scrape has been answered with these families. */
  readonly markServed: () => void;
}

/** Everything that the web server reads from the exporter. */
export interface ExporterFacade {
  readonly shard: Shard;
  readonly links: PageLinks;
  /**
   * In scrape mode, resolves after the polls of a scrape or when its time runs out; otherwise immediately. Rejects with a
   * `GaveWayError` if too many scrapes wait.
   */
  refresh(scrape: ClientScrape): Promise<void>;
  /** Collects each selected family once; by default all of them. */
  collect(selection?: FamilySelection): Promise<CollectedFamilies>;
  getServiceCodes(): readonly PolledServiceCode[];
  hasServiceCode(serviceCode: string): boolean;
  /** Index of the other shard that polls a service code; `undefined` if no other shard does. */
  getOtherShard(this: void, serviceCode: string): number | undefined;
  /** Whether the poll loops run, regardless of the outcome of polls. */
  isHealthy(): boolean;
  /** Whether the first polls have finished; always true in scrape mode. */
  isReady(): boolean;
  /** Current time for pages, in milliseconds since the Unix epoch. */
  nowMs(): number;
  getStatuses(): readonly ServiceCodeStatus[];
  /** `undefined` for a service code that is not configured. */
  getStatus(serviceCode: string): ServiceCodeStatus | undefined;
  /** `undefined` for a service code that is not configured. */
  getPolling(serviceCode: string): PollingStatus | undefined;
  getProcess(): ProcessStatus;
  /** Absolute path of the configuration file. */
  readonly configurationFile: string | undefined;
  /** `undefined` without a listing or if the listing is stale. */
  getBreakdown(serviceCode: string): ListingBreakdown | undefined;
}

interface ExporterFacadeOptions {
  readonly store: Store;
  readonly labels: CodeLabels;
  readonly exporterMetrics: ExporterMetrics;
  readonly poller: Poller;
  /** Defined in scrape mode only. */
  readonly scrapeDriven: ScrapeTrigger | undefined;
  readonly watchdog: Watchdog;
  readonly clock: Clock;
  readonly version: string;
  readonly shard: Shard;
  readonly configurationFile: string | undefined;
  readonly links: PageLinks;
  /** Returns the parts of the configuration that a reload changes. */
  readonly getReloadable: () => Pick<Configuration, 'codesOnOtherShards'>;
}

/** Combines poll results and the exporter's own metrics for the web server. */
export function createExporterFacade(parts: ExporterFacadeOptions): ExporterFacade {
  const {
    store,
    labels,
    exporterMetrics,
    poller,
    scrapeDriven,
    watchdog,
    clock,
    version,
    shard,
    configurationFile,
    links,
    getReloadable,
  } = parts;
  const startedMs = clock.monotonic();
  const waits = new PollWaits();
  return {
    shard,
    configurationFile,
    links,
    refresh: async (scrape) => {
      if (scrapeDriven !== undefined) await waits.run(scrape, (waiting) => scrapeDriven.refresh(waiting));
    },
    async collect(selection = 'everything') {
      const ownFamilies = await exporterMetrics.collect(selection);
      const states = typeof selection === 'object' ? store.select(selection.serviceCode) : store.states;
      const codeFamilies = store.collectFamilies(clock.monotonic(), states);
      if (selection === 'exporter') {
        const otherSeriesCount = countSeries(codeFamilies) + exporterMetrics.codeSeriesCount;
        const series = createSeriesFamily(otherSeriesCount + countSeries(ownFamilies));
        return { families: [...ownFamilies, series], markServed: () => undefined };
      }
      const families = [...codeFamilies, ...ownFamilies];
      if (selection === 'everything') families.push(createSeriesFamily(countSeries(families)));
      const markServed = (): void => {
        store.markServed(states);
        exporterMetrics.markServed(ownFamilies);
      };
      return { families, markServed };
    },
    getServiceCodes: () =>
      store.states.map(({ serviceCode }) => ({ serviceCode, labels: labels.get(serviceCode) })),
    hasServiceCode: (serviceCode) => poller.has(serviceCode),
    getOtherShard: (serviceCode) =>
      getReloadable().codesOnOtherShards.has(serviceCode) ? selectShard(serviceCode, shard.count) : undefined,
    isHealthy: () => watchdog.check(),
    // A pod that is not ready may get no scrapes, and in scrape mode only scrapes would make it ready.
    isReady: () => scrapeDriven !== undefined || poller.isFirstRoundOver,
    nowMs: () => clock.now(),
    getStatuses: () => {
      const nowMs = clock.monotonic();
      return store.states.map((state) => toServiceCodeStatus(state, labels, nowMs));
    },
    getStatus: (serviceCode) => {
      const state = store.get(serviceCode);
      return state === undefined ? undefined : toServiceCodeStatus(state, labels, clock.monotonic());
    },
    getBreakdown: (serviceCode) => {
      const state = store.get(serviceCode);
      if (state?.snapshot === undefined || isStale(state, clock.monotonic())) return undefined;
      return breakDownListing(state.snapshot, state.isUp === true ? state.previousBytes : undefined);
    },
    getPolling: (serviceCode) => {
      const nowMs = clock.monotonic();
      const plan = poller.getPlan(serviceCode, nowMs);
      if (plan === undefined) return undefined;
      const nextPollMs = plan.nextPollMs === undefined ? undefined : clock.now() + plan.nextPollMs - nowMs;
      return { ...plan, nextPollMs };
    },
    getProcess: () => ({
      version,
      shard,
      uptimeMs: clock.monotonic() - startedMs,
      ...exporterMetrics.configLoads,
    }),
  };
}

/** The count includes the series that carries it. */
function createSeriesFamily(otherSeriesCount: number): Family {
  return { spec: CATALOGUE.series, samples: [{ labels: [], value: otherSeriesCount + 1 }] };
}

function toServiceCodeStatus(state: CodeState, labels: CodeLabels, nowMs: number): ServiceCodeStatus {
  const { serviceCode, lastPollMs, lastSuccessMs, failure, ret, httpStatus, history } = state;
  return {
    serviceCode,
    labels: labels.get(serviceCode),
    condition: toCondition(state, nowMs),
    lastPollMs,
    lastSuccessMs,
    failure,
    ret,
    httpStatus,
    totals: toTotals(state, nowMs),
    history,
    expectedTasks: listExpectedTasksOf(state, nowMs),
    expectedTaskCount: state.expectation?.tasks ?? 0,
  };
}

function toCondition(state: CodeState, nowMs: number): ServiceCodeCondition {
  if (state.isUp === undefined) return 'waiting';
  if (!state.isUp) return 'down';
  if (isStale(state, nowMs)) return 'stale';
  const { tasks = 0, ingress, egress } = state.history.latestListing ?? {};
  return tasks > 0 && ingress === 0 && egress === 0 ? 'idle' : 'up';
}

/** As on `/metrics`: a stale listing is hidden, and rates are hidden after a failed poll. */
function toTotals(state: CodeState, nowMs: number): LatestListing | undefined {
  const { latestListing } = state.history;
  if (latestListing === undefined || isStale(state, nowMs)) return undefined;
  return state.isUp === true ? latestListing : { ...latestListing, ingress: undefined, egress: undefined };
}
