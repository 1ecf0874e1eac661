import { SERIES_FAMILIES } from '../metrics/catalogue.ts';
import type { Configuration } from '../config/configuration.ts';
import type { ConfigLoads, ExporterMetrics } from '../metrics/exporter-metrics.ts';
import type { LastBody } from '../metrics/exposition.ts';
import { columnOf, countSeries, type Family } from '../families/family.ts';
import type { ListingRates } from '../poller/poll-history.ts';
import type { Poller } from '../poller/poller.ts';
import type { PollPlan } from '../poller/service-code-poller.ts';
import { isStale, type CodeState, type NewCounters, type Store } from '../poller/store.ts';
import type { Clock } from '../runtime/clock.ts';
import { getWallOffsetMs, readInstant, type Instant } from '../runtime/instant.ts';
import { formatShard, selectShard, type Shard } from '../sharding/shard.ts';
import { countExpectedTasks, listExpectedTasks, type ExpectedTask } from '../tally/expectations.ts';
import type { AccountBudget } from '../tally/account-budget.ts';
import { findReportedTasks, NO_LOSSES, type CodeLosses } from '../tally/losses/losses.ts';
import type { StateStatistics } from '../state/state-store.ts';
import { breakDownListing, type ListingBreakdown } from './listing-breakdown.ts';
import { sumListing, type ListingTotals } from './listing-totals.ts';

/**
 * `waiting`: not polled yet; `down`: the last poll failed; `stale`: the last success is too old; `lost`: most
 * tasks or users are gone; `idle`: tasks run, but no byte moved between two listings; `up`: otherwise.
 */
export type ServiceCodeCondition = 'down' | 'idle' | 'lost' | 'stale' | 'up' | 'waiting';

/** The status of one service code, with wall-clock times; unknown values are `undefined`. */
export interface ServiceCodeStatus extends Pick<
  CodeState,
  'serviceCode' | 'labels' | 'failure' | 'ret' | 'httpStatus' | 'certificateNotAfterMs' | 'history'
> {
  readonly lastPollMs: number | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly condition: ServiceCodeCondition;
  /** Totals of the last good listing, unless it is stale; without rates if polls have failed since. */
  readonly totals: ListingTotals | undefined;
  /** Those of the last good listing, unless it is stale. */
  readonly losses: CodeLosses;
  /** The names that must run, and how they were in the last good listing. */
  readonly expectedTasks: readonly ExpectedTask[];
  /** How many tasks must run, those with a name included. */
  readonly expectedTaskCount: number;
}

/** The state of the process. Times in milliseconds since the Unix epoch. */
export interface ProcessStatus extends ConfigLoads {
  readonly nowMs: number;
  readonly version: string;
  readonly shard: Shard;
  readonly uptimeMs: number;
  /** How the process was started, without arguments. */
  readonly command: readonly string[];
  readonly configurationFile: string | undefined;
  readonly telemetryPath: string;
  /** The share of the accounts that tasks of the last listings have, from 0 to 1. */
  readonly liveAccountShare: number;
  /** `false` if the default folder of the state could not be used; `undefined` without a folder. */
  readonly isStateOpen: boolean | undefined;
  /** When the certificate of the web server expires, and that which the exporter presents upstream. */
  readonly webCertificateNotAfterMs: number | undefined;
  readonly clientCertificateNotAfterMs: number | undefined;
  /** Since when listings are not written to the state, if that lasts. */
  readonly stateUnwrittenSinceMs: number | undefined;
  readonly grafanaUrl: string | undefined;
  readonly runbookUrl: string;
}

interface ExporterParts {
  readonly store: Store;
  readonly exporterMetrics: ExporterMetrics;
  readonly poller: Poller;
  readonly clock: Clock;
  readonly configuration: Configuration;
  readonly build: Pick<ProcessStatus, 'version' | 'command' | 'runbookUrl'>;
  readonly accountBudget: Pick<AccountBudget, 'counts' | 'maxAccounts'>;
  readonly state: Readonly<StateStatistics> | undefined;
  readonly isStateOpen: boolean | undefined;
  /** A reload changes it. */
  readonly getClientCertificateNotAfterMs: () => number | undefined;
  /** A reload changes them. */
  readonly getCodesOnOtherShards: () => Configuration['codesOnOtherShards'];
}

/** Families that a scrape asks for: all, those of the process, or those of one service code. */
export type FamilySelection = 'everything' | 'exporter' | { readonly serviceCode: string };

/** The part of the exporter that the web server uses. */
export interface ExporterFacade {
  readonly telemetryPath: string;
  collect(selection: FamilySelection, newCounters?: NewCounters): Promise<Iterable<Family>>;
  getLastBody(selection: FamilySelection): LastBody;
  getServiceCodes(): readonly Pick<ServiceCodeStatus, 'serviceCode' | 'labels'>[];
  /** Why this process does not poll a service code, without its name; `undefined` if it does. */
  explainUnknown(serviceCode: string): string | undefined;
  /** Whether the poll loops run, regardless of the outcome of polls. */
  isHealthy(): boolean;
  isReady(): boolean;
  getStatuses(): readonly ServiceCodeStatus[];
  getStatus(serviceCode: string): ServiceCodeStatus | undefined;
  /** `undefined` without a listing or if the listing is stale. */
  getBreakdown(serviceCode: string): ListingBreakdown | undefined;
  getPolling(serviceCode: string): PollPlan | undefined;
  getProcess(): ProcessStatus;
}

export function createExporterFacade(parts: ExporterParts): ExporterFacade {
  const { store, exporterMetrics, poller, clock, configuration, state: stateStatistics } = parts;
  const { shard } = configuration;
  const startedMs = clock.monotonic();
  const lastBodies = { everything: { bytes: 0 }, exporter: { bytes: 0 }, serviceCode: { bytes: 0 } };
  return {
    telemetryPath: configuration.web.telemetryPath,
    async collect(selection, newCounters = 'zero') {
      const now = readInstant(clock);
      if (typeof selection === 'object') {
        const state = store.get(selection.serviceCode);
        return state === undefined ? [] : [...store.collectFamilies(now, [state], newCounters)];
      }
      const ownFamilies = await exporterMetrics.collect(store.states.length);
      // `series` is a series, too.
      const own = ownFamilies.reduce((sum, family) => sum + countSeries(family), 1);
      const series = { spec: SERIES_FAMILIES.series, samples: columnOf(store.countSeries(now) + own) };
      const codeFamilies =
        selection === 'exporter' ? [] : store.collectFamilies(now, store.states, newCounters);
      return concatenate(codeFamilies, ownFamilies, [series]);
    },
    getLastBody: (selection) => lastBodies[typeof selection === 'object' ? 'serviceCode' : selection],
    getServiceCodes: () => store.states.map(({ serviceCode, labels }) => ({ serviceCode, labels })),
    explainUnknown(serviceCode) {
      if (poller.has(serviceCode)) return undefined;
      if (!parts.getCodesOnOtherShards().has(serviceCode)) return 'No such service code is configured.';
      const other = selectShard(serviceCode, shard.count);
      return `Shard ${other} polls this service code; this is ${formatShard(shard)}.`;
    },
    isHealthy: () => poller.updateHealth(),
    isReady: () => poller.updateReadiness(),
    getStatuses() {
      const now = readInstant(clock);
      return store.states.map((state) => toServiceCodeStatus(state, now));
    },
    getStatus(serviceCode) {
      const state = store.get(serviceCode);
      return state && toServiceCodeStatus(state, readInstant(clock));
    },
    getBreakdown(serviceCode) {
      const state = store.get(serviceCode);
      if (state?.snapshot === undefined || isStale(state, clock.monotonic())) return undefined;
      return breakDownListing(state.snapshot, getRates(state));
    },
    getPolling: (serviceCode) => poller.getPlan(serviceCode, clock.monotonic()),
    getProcess: () => ({
      nowMs: clock.now(),
      version: parts.build.version,
      shard,
      uptimeMs: clock.monotonic() - startedMs,
      command: parts.build.command,
      configurationFile: configuration.file,
      telemetryPath: configuration.web.telemetryPath,
      liveAccountShare: parts.accountBudget.counts.live / parts.accountBudget.maxAccounts,
      isStateOpen: parts.isStateOpen,
      webCertificateNotAfterMs: exporterMetrics.web.certificateNotAfterMs,
      clientCertificateNotAfterMs: parts.getClientCertificateNotAfterMs(),
      stateUnwrittenSinceMs:
        stateStatistics &&
        findUnwritten(store, stateStatistics.lastWriteMs ?? startedMs, getWallOffsetMs(readInstant(clock))),
      grafanaUrl: configuration.web.grafanaUrl,
      runbookUrl: parts.build.runbookUrl,
      ...exporterMetrics.configLoads,
    }),
  };
}

/** A listing is published at most 100 ms before it is written, unless the disk fails or hangs. */
const MAX_UNWRITTEN_MS = 60_000;

/** The last write, if a listing came much later. */
function findUnwritten(store: Store, lastWriteMs: number, wallOffsetMs: number): number | undefined {
  const newestMs = store.states.reduce((ms, { snapshot }) => Math.max(ms, snapshot?.at.monotonicMs ?? 0), 0);
  return newestMs - lastWriteMs > MAX_UNWRITTEN_MS ? lastWriteMs + wallOffsetMs : undefined;
}

function* concatenate(...parts: readonly Iterable<Family>[]): Generator<Family, void> {
  for (const families of parts) yield* families;
}

/** Rates are hidden after a failed poll. */
function getRates({ failure, history }: CodeState): ListingRates | undefined {
  return failure === undefined ? history.latestRates : undefined;
}

function toServiceCodeStatus(state: CodeState, now: Instant): ServiceCodeStatus {
  const { expectation, snapshot, lastPoll, failure } = state;
  const offsetMs = getWallOffsetMs(now);
  const toWall = (ms: number | undefined) => (ms === undefined ? undefined : ms + offsetMs);
  // As on `/metrics`: a stale listing is hidden.
  const isListingStale = isStale(state, now.monotonicMs);
  const shown = isListingStale ? undefined : snapshot;
  const totals = shown && sumListing(shown, getRates(state));
  const losses = shown?.losses ?? NO_LOSSES;
  return {
    ...state,
    lastPollMs: toWall(lastPoll?.atMs),
    lastSuccessMs: toWall(snapshot?.at.monotonicMs),
    failure: failure && {
      ...failure,
      sinceMs: failure.sinceMs + offsetMs,
      pausedUntilMs: toWall(failure.pausedUntilMs),
    },
    condition: toCondition(state, totals, losses),
    totals,
    losses,
    expectedTasks: listExpectedTasks(expectation, snapshot?.expectedTasks),
    expectedTaskCount: countExpectedTasks(expectation, shown?.expectedTaskCount),
  };
}

/** `totals` are those of the last good listing unless it is stale. */
function toCondition(
  state: CodeState,
  totals: ListingTotals | undefined,
  losses: CodeLosses,
): ServiceCodeCondition {
  if (state.lastPoll === undefined) return 'waiting';
  if (state.failure !== undefined) return 'down';
  if (totals === undefined) return 'stale';
  const { users, tasks, ingress, egress } = totals;
  if (findReportedTasks({ losses, users }) !== undefined || losses.users !== undefined) return 'lost';
  return tasks > 0 && ingress === 0 && egress === 0 ? 'idle' : 'up';
}
