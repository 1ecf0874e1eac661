import type { Clock } from './clock.ts';
import { CATALOGUE } from './metrics/catalogue.ts';
import { countSeries } from './metrics/exposition.ts';
import type { Family } from './metrics/family.ts';
import type { SelfMetrics } from './metrics/self.ts';
import type { Poller } from './poller/poller.ts';
import type { Watchdog } from './poller/watchdog.ts';
import { isStale, type CodeState, type Store } from './poller/store.ts';
import type { ExporterView, ServiceCodeStatus } from './web/view.ts';

interface Parts {
  readonly store: Store;
  readonly self: SelfMetrics;
  readonly poller: Poller;
  readonly watchdog: Watchdog;
  readonly clock: Clock;
  readonly version: string;
}

/** Joins what the polls found and what the exporter says of itself into what the web server shows. */
export function createExporterView({ store, self, poller, watchdog, clock, version }: Parts): ExporterView {
  return {
    version,
    async collect(serviceCodes) {
      const own = await self.collect(serviceCodes);
      const families = [...store.families(clock.monotonic(), serviceCodes), ...own];
      return serviceCodes === undefined ? [...families, seriesFamily(families)] : families;
    },
    hasServiceCode: (serviceCode) => store.get(serviceCode) !== undefined,
    isHealthy: () => watchdog.look(),
    isReady: () => poller.isFirstRoundOver,
    status: () => store.states.map((state) => statusOf(state, clock.monotonic())),
  };
}

/** How many series there are, this one among them. */
function seriesFamily(families: readonly Family[]): Family {
  return { spec: CATALOGUE.series, samples: [{ labels: [], value: countSeries(families) + 1 }] };
}

/** As on `/metrics`, a listing that has grown stale is not shown. */
function statusOf(state: CodeState, nowMs: number): ServiceCodeStatus {
  const snapshot = isStale(state, nowMs) ? undefined : state.snapshot;
  return {
    serviceCode: state.serviceCode,
    up: state.isUp,
    lastPollMs: state.lastPollMs,
    lastSuccessMs: state.lastSuccessMs,
    lastError: state.lastError,
    users: snapshot?.users,
    tasks: snapshot?.tasks,
  };
}
