import type { Clock } from './clock.ts';
import { breakDown } from './listing-breakdown.ts';
import { CATALOGUE } from './metrics/catalogue.ts';
import type { CodeLabels } from './metrics/code-labels.ts';
import { countSeries } from './metrics/exposition.ts';
import type { Family } from './metrics/family.ts';
import type { SelfMetrics } from './metrics/self.ts';
import type { LatestListing } from './poller/poll-history.ts';
import type { Poller } from './poller/poller.ts';
import type { ScrapeDrivenPolls } from './poller/scrape-driven.ts';
import type { Watchdog } from './poller/watchdog.ts';
import { isStale, type CodeState, type Store } from './poller/store.ts';
import { shardOf } from './sharding/rendezvous.ts';
import type { Shard } from './sharding/shard.ts';
import type { ExporterView, ServiceCodeCondition, ServiceCodeStatus } from './web/view.ts';

interface Parts {
  readonly store: Store;
  readonly labels: CodeLabels;
  readonly self: SelfMetrics;
  readonly poller: Poller;
  /** Where scrapes ask for polls. */
  readonly scrapeDriven: ScrapeDrivenPolls | undefined;
  readonly watchdog: Watchdog;
  readonly clock: Clock;
  readonly version: string;
  readonly shard: Shard;
  /** Service codes that other shards poll, as of now. */
  readonly elsewhere: () => ReadonlySet<string>;
}

/** Joins what the polls found and what the exporter says of itself into what the web server shows. */
export function createExporterView(parts: Parts): ExporterView {
  const { store, labels, self, poller, scrapeDriven, watchdog, clock, version, shard, elsewhere } = parts;
  return {
    version,
    shard,
    refresh: async (scrape) => await scrapeDriven?.refresh(scrape),
    async collect(selection = 'everything') {
      const own = await self.collect(selection);
      const serviceCodes = typeof selection === 'object' ? selection : undefined;
      const listed = store.families(clock.monotonic(), serviceCodes);
      if (selection === 'exporter')
        return [...own, seriesFamily(countSeries(listed) + countSeries(own) + self.codeSeries)];
      const families = [...listed, ...own];
      return selection === 'everything' ? [...families, seriesFamily(countSeries(families))] : families;
    },
    serviceCodes: () =>
      store.states.map(({ serviceCode }) => ({ serviceCode, labels: labels.of(serviceCode) })),
    hasServiceCode: (serviceCode) => store.get(serviceCode) !== undefined,
    otherShardOf: (serviceCode) =>
      elsewhere().has(serviceCode) ? shardOf(serviceCode, shard.count) : undefined,
    isHealthy: () => watchdog.look(),
    // Who is not ready is not scraped, and so would never become it.
    isReady: () => scrapeDriven !== undefined || poller.isFirstRoundOver,
    nowMs: () => clock.now(),
    status: () => {
      const nowMs = clock.monotonic();
      return store.states.map((state) => statusOf(state, labels, nowMs));
    },
    statusOf: (serviceCode) => {
      const state = store.get(serviceCode);
      return state === undefined ? undefined : statusOf(state, labels, clock.monotonic());
    },
    breakdownOf: (serviceCode) => {
      const state = store.get(serviceCode);
      if (state?.snapshot === undefined || isStale(state, clock.monotonic())) return undefined;
      return breakDown(state.snapshot);
    },
  };
}

/** How many series there are beside this one, and this one. */
function seriesFamily(others: number): Family {
  return { spec: CATALOGUE.series, samples: [{ labels: [], value: others + 1 }] };
}

function statusOf(state: CodeState, labels: CodeLabels, nowMs: number): ServiceCodeStatus {
  const { serviceCode, lastPollMs, lastSuccessMs, lastError, ret, history } = state;
  return {
    serviceCode,
    labels: labels.of(serviceCode),
    condition: conditionOf(state, nowMs),
    lastPollMs,
    lastSuccessMs,
    lastError,
    ret,
    figures: figuresOf(state, nowMs),
    history,
  };
}

function conditionOf(state: CodeState, nowMs: number): ServiceCodeCondition {
  if (state.isUp === undefined) return 'waiting';
  if (!state.isUp) return 'down';
  return isStale(state, nowMs) ? 'stale' : 'up';
}

/** As on `/metrics`: a listing that has grown stale is not shown, and what flows now is not known of an old one. */
function figuresOf(state: CodeState, nowMs: number): LatestListing | undefined {
  const { latestListing } = state.history;
  if (latestListing === undefined || isStale(state, nowMs)) return undefined;
  return state.isUp === true ? latestListing : { ...latestListing, ingress: undefined, egress: undefined };
}
