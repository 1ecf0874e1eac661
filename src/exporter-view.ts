import type { Clock } from './clock.ts';
import { breakDown } from './listing-breakdown.ts';
import { CATALOGUE } from './metrics/catalogue.ts';
import type { CodeLabels } from './metrics/code-labels.ts';
import { countSeries } from './metrics/exposition.ts';
import type { Family } from './metrics/family.ts';
import type { SelfMetrics } from './metrics/self.ts';
import type { LatestListing } from './poller/poll-history.ts';
import type { Poller } from './poller/poller.ts';
import type { Watchdog } from './poller/watchdog.ts';
import { isStale, type CodeState, type Store } from './poller/store.ts';
import type { ExporterView, ServiceCodeCondition, ServiceCodeStatus } from './web/view.ts';

interface Parts {
  readonly store: Store;
  readonly labels: CodeLabels;
  readonly self: SelfMetrics;
  readonly poller: Poller;
  readonly watchdog: Watchdog;
  readonly clock: Clock;
  readonly version: string;
}

/** Joins what the polls found and what the exporter says of itself into what the web server shows. */
export function createExporterView(parts: Parts): ExporterView {
  const { store, labels, self, poller, watchdog, clock, version } = parts;
  return {
    version,
    async collect(serviceCodes) {
      const own = (await self.collect(serviceCodes)).flatMap((family) => labels.split(family));
      const families = [...store.families(clock.monotonic(), serviceCodes), ...own];
      return serviceCodes === undefined ? [...families, seriesFamily(families)] : families;
    },
    hasServiceCode: (serviceCode) => store.get(serviceCode) !== undefined,
    labelsOf: (serviceCode) => labels.of(serviceCode),
    isHealthy: () => watchdog.look(),
    isReady: () => poller.isFirstRoundOver,
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

/** How many series there are, this one among them. */
function seriesFamily(families: readonly Family[]): Family {
  return { spec: CATALOGUE.series, samples: [{ labels: [], value: countSeries(families) + 1 }] };
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
