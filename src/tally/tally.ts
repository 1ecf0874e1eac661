import { CATALOGUE } from '../metrics/catalogue.ts';
import type { PlainSample } from '../metrics/family.ts';
import { GaugeGuard, type Folded } from './gauge-guard.ts';
import type { Instant } from './instant.ts';
import { Ledger, LEDGER_COUNTERS } from './ledger.ts';
import { LISTING_GAUGES, ListingTally, type ListingGauge } from './listing-tally.ts';
import { recordOf } from '../record-of.ts';
import { ServerMemory } from './server-memory.ts';
import type { CounterFamilyKey, ListingFamily, Snapshot } from './snapshot.ts';
import type { StateUnit } from './state-unit.ts';
import { TallyRestoring, unitsOf, type TallyParts } from './tally-state.ts';
import { TaskDetails } from './task-details.ts';
import { Worksheets } from './worksheet.ts';

export interface TallyOptions {
  readonly serviceCode: string;
  /** Label sets of a family beyond this fold into `__other__`. */
  readonly maxLabelSets: number;
  /** How long a live task's input stands still before the task is stalled. */
  readonly stallAfterMs: number;
  /** Whether single tasks are exposed. */
  readonly perTask: boolean;
  /** How many single tasks are exposed at most. */
  readonly maxTasks: number;
}

/**
 * The accounts of one service code: listings in, snapshots out. Owns all that is remembered from one listing
 * to the next. A listing is a transaction: `begin` gives one to fill, and only `commit` makes it count.
 */
export class Tally {
  readonly #serviceCode: string;
  readonly #guards: Readonly<Record<ListingGauge, GaugeGuard>>;
  readonly #servers: ServerMemory;
  readonly #details: TaskDetails | undefined;
  readonly #ledger: Ledger;
  /** Families that have ever folded: they show, at 0 too, from then on. */
  readonly #everFolded = new Set<CounterFamilyKey | ListingFamily>();

  constructor(options: TallyOptions) {
    const { maxLabelSets, stallAfterMs } = options;
    this.#serviceCode = options.serviceCode;
    this.#guards = recordOf(LISTING_GAUGES, () => new GaugeGuard(options.serviceCode, maxLabelSets));
    this.#servers = new ServerMemory(maxLabelSets);
    this.#details = options.perTask ? new TaskDetails(options.maxTasks) : undefined;
    this.#ledger = new Ledger({
      serviceCode: options.serviceCode,
      maxLabelSets,
      stallAfterMs,
      observer: this.#details,
    });
  }

  /** How long a live task's input stands still before the task is stalled, from the next listing on. */
  set stallAfterMs(stallAfterMs: number) {
    this.#ledger.stallAfterMs = stallAfterMs;
  }

  /** A new listing to fill, on one of these sheets; dropping it leaves everything as it was. */
  begin(worksheets = new Worksheets()): ListingTally {
    return new ListingTally(worksheets);
  }

  /** How many good listings it has taken, in this process and before; 0 if none. */
  get listings(): number {
    return this.#ledger.progress?.listings ?? 0;
  }

  /**
   * What is to be kept of it for another process, in pieces; nothing before the first good listing. The pieces
   * belong together only as long as no further listing is committed.
   */
  state(): Iterable<StateUnit> {
    return unitsOf(this.#parts);
  }

  /** Makes a tally that has taken no listing what another one was; `now` is the moment at which that is done. */
  restoring(now: Instant): TallyRestoring {
    return new TallyRestoring(this.#parts, now);
  }

  /** Takes a listing that is whole and good, once, and returns what is to be exposed from now on. */
  commit(listing: ListingTally, at: Instant): Snapshot {
    const { servers } = listing;
    this.#servers.note(servers, at);
    this.#details?.begin(listing.tasks, at);
    this.#ledger.commit(listing, at);
    this.#addIdleServers(listing);
    const gauges = recordOf(LISTING_GAUGES, (gauge) => this.#guards[gauge].fold(listing.gauges[gauge], at));
    return {
      at,
      users: listing.users,
      tasks: listing.tasks.size,
      // Assigned, not spread: what V8 makes of the other way is a hidden class for each snapshot.
      listing: Object.assign(
        recordOf(LISTING_GAUGES, (gauge) => gauges[gauge].points),
        {
          servers: [{ labels: [this.#serviceCode], value: servers.size }],
          serverLastSeen: this.#servers.points(this.#serviceCode),
          foldedLabelSets: this.#foldedSamples(gauges),
        },
        this.#details?.samples(this.#serviceCode, listing.tasks, this.#ledger),
      ),
      counters: Object.assign(
        recordOf(LEDGER_COUNTERS, (counter) => this.#ledger.points(counter)),
        { taskLifetime: [this.#ledger.lifetimes(this.#serviceCode)] },
      ),
    };
  }

  get #parts(): TallyParts {
    return {
      serviceCode: this.#serviceCode,
      ledger: this.#ledger,
      servers: this.#servers,
      details: this.#details,
    };
  }

  /** A server that had users or tasks within the hour and has none now has 0: that is what a drop looks like. */
  #addIdleServers(listing: ListingTally): void {
    for (const vsId of this.#servers.servers) {
      listing.gauges.tasks.at(vsId).add(0);
      listing.gauges.serverOnlineUsers.at(vsId).add(0);
    }
  }

  #foldedSamples(gauges: Readonly<Record<ListingGauge, Folded>>): readonly PlainSample[] {
    const counts = new Map<CounterFamilyKey | ListingFamily, number>();
    for (const gauge of LISTING_GAUGES) counts.set(gauge, gauges[gauge].foldedSets);
    for (const counter of LEDGER_COUNTERS) counts.set(counter, this.#ledger.counters[counter].foldedSets);
    counts.set('serverLastSeen', this.#servers.leftOut);
    counts.set('taskInfo', this.#details?.leftOut ?? 0);
    for (const [family, count] of counts) if (count > 0) this.#everFolded.add(family);
    return [...this.#everFolded].map((family) => ({
      labels: [this.#serviceCode, CATALOGUE[family].name],
      value: counts.get(family) ?? 0,
    }));
  }
}
