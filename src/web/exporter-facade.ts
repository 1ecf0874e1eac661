import type { Scrape } from '../poller/scrape-driven.ts';
import type { Selection } from '../metrics/selection.ts';
import type { Family, StaticLabels } from '../metrics/family.ts';
import type { LatestListing, PollHistoryView } from '../poller/poll-history.ts';
import type { Shard } from '../sharding/shard.ts';
import type { PollErrorReason } from '../upstream/errors.ts';

/**
 * How a service code is: its last poll failed (`down`); it did not, but was too long ago (`stale`); it succeeded
 * (`up`); there was none yet (`waiting`).
 */
export type ServiceCodeCondition = 'down' | 'stale' | 'up' | 'waiting';

/** What the status page says of one service code; what is not known is `undefined`. */
export interface ServiceCodeStatus {
  readonly serviceCode: string;
  readonly labels: StaticLabels;
  readonly condition: ServiceCodeCondition;
  /** Milliseconds since the Unix epoch. */
  readonly lastPollMs: number | undefined;
  readonly lastSuccessMs: number | undefined;
  readonly lastError: PollErrorReason | undefined;
  /** The last answer's `ret`. */
  readonly ret: number | undefined;
  /** Of the last good listing, unless it has grown stale. Without rates when polls have failed since. */
  readonly figures: LatestListing | undefined;
  readonly history: PollHistoryView;
}

/** How much of something there is, by name. */
export interface Share {
  readonly name: string;
  readonly value: number;
}

/** What the last good listing says of one server. */
export interface ServerStatus {
  readonly vsId: string;
  readonly users: number;
  readonly tasks: number;
  readonly stalledTasks: number;
  readonly connections: number;
  /** Milliseconds since the Unix epoch. */
  readonly lastSeenMs: number | undefined;
}

/** What the page of one service code says of its last good listing. */
export interface ListingBreakdown {
  readonly servers: readonly ServerStatus[];
  readonly outputsByFormat: readonly Share[];
  readonly connectionsByFormat: readonly Share[];
  readonly usersByClientVersion: readonly Share[];
  readonly usersByDeviceType: readonly Share[];
  readonly inputsByProtocol: readonly Share[];
}

/** A service code that this process polls, with the labels that its configuration gives it. */
export interface PolledServiceCode {
  readonly serviceCode: string;
  readonly labels: StaticLabels;
}

/** What the web server may ask of the exporter. */
export interface ExporterView {
  readonly version: string;
  /** Resolves when a scrape is to be answered: where scrapes ask for polls, once these are over, or it cannot wait. */
  refresh(scrape: Scrape): Promise<void>;
  /** Which of the processes that share the service codes this is. */
  readonly shard: Shard;
  /** The families to expose, each once, of everything where nothing else is selected. */
  collect(selection?: Selection): Promise<readonly Family[]>;
  /** All that are polled here. */
  serviceCodes(): readonly PolledServiceCode[];
  hasServiceCode(serviceCode: string): boolean;
  /** The index of the shard that polls a service code, where another does. */
  otherShardOf(this: void, serviceCode: string): number | undefined;
  /** Whether the polls go on, whatever they come to. */
  isHealthy(): boolean;
  /** Whether the first round of polls is over, or none is to be waited for. */
  isReady(): boolean;
  /** The moment that a page shows, in milliseconds since the Unix epoch. */
  nowMs(): number;
  status(): readonly ServiceCodeStatus[];
  /** `undefined` for a service code that is not configured. */
  statusOf(serviceCode: string): ServiceCodeStatus | undefined;
  /** `undefined` where there is no listing, or a stale one. */
  breakdownOf(serviceCode: string): ListingBreakdown | undefined;
}
