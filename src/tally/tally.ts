import { CATALOGUE } from '../metrics/catalogue/catalogue.ts';
import type { PlainSample } from '../metrics/catalogue/family.ts';
import { SampleColumns, type LabelSet } from '../metrics/catalogue/sample-columns.ts';
import { listSums, type LabelSum, type Sums } from '../listing/families.ts';
import { toKeyedLabels } from '../listing/label-values.ts';
import type { Listing } from '../listing/listing.ts';
import { recordOf } from '../runtime/record-of.ts';
import { AccountBudget, type AccountShare } from './account-budget.ts';
import { Accumulator } from './accumulator.ts';
import {
  LEDGER_COUNTERS,
  isLedgerGauge,
  LISTING_GAUGES,
  type CounterFamilyKey,
  type ListingFamily,
  type ListingGauge,
} from './family-keys.ts';
import type { Instant } from './instant.ts';
import { GaugeFamily } from './limited-families.ts';
import { ExpectedTasks, type Expectation } from './expectations.ts';
import { DEFAULT_MAX_STREAM_RATE, Ledger, type LedgerOptions } from './ledger/ledger.ts';
import type { ServerSums } from './ledger/server-sums.ts';
import { countFindings, listServers, listWatchedFormats } from './listing-findings.ts';
import { nameNotableTasks } from './notable-tasks.ts';
import { SlotTable } from './slot-table.ts';
import type { Snapshot } from './snapshot.ts';
import {
  createRecords,
  restoreRecords,
  type StateRecord,
  type TallyParts,
  type TallyRecords,
} from './tally-state.ts';
import { TaskDetails } from './task-details.ts';

/** A server that left is exposed at 0 for this time. */
const SERVER_RETENTION_MS = 60 * 60 * 1000;

/** Label sets per service code and family unless configured otherwise. */
export const DEFAULT_MAX_LABEL_SETS = 2000;

export interface TallyOptions extends Omit<LedgerOptions, 'maxStreamRate' | 'details' | 'accountBudget'> {
  /** In bytes per second. Default: 100 Mbit/s. */
  readonly maxStreamRate?: number;
  /** Whether per-task families are exposed. */
  readonly perTask: boolean;
  /** Maximum number of tasks in per-task families. */
  readonly maxTasks: number;
  /** Shared by all service codes, each of which is added while it is polled. Default: one for this tally alone. */
  readonly accountBudget?: AccountBudget;
}

/** What a commit makes. */
interface CommitResult {
  /** Everything that is exposed from now on. */
  readonly snapshot: Snapshot;
  readonly records: TallyRecords;
}

/** The state of one service code: complete listings in, snapshots out. */
export class Tally {
  readonly serviceCode: string;
  readonly #maxLabelSets: number;
  readonly #gauges: Readonly<Record<ListingGauge, GaugeFamily>>;
  /** The servers of the last hour. */
  readonly #servers: SlotTable<{ readonly key: string }>;
  readonly #details: TaskDetails | undefined;
  readonly #ledger: Ledger;
  readonly #expectedTasks = new ExpectedTasks();
  /** Formats of which some output has had a connection: the service meters them. */
  readonly #meteredFormats = new Set<string>();
  /** Families that have ever folded: from then on they are exposed, at 0 too. */
  readonly #everFolded = new Set<CounterFamilyKey | ListingFamily>();
  readonly #timeline = { offsetMs: 0 };

  constructor(options: TallyOptions) {
    const { serviceCode, maxLabelSets, maxStreamRate = DEFAULT_MAX_STREAM_RATE } = options;
    this.serviceCode = serviceCode;
    this.#maxLabelSets = maxLabelSets;
    this.#gauges = recordOf(LISTING_GAUGES, (gauge) => new GaugeFamily(gauge, serviceCode, maxLabelSets));
    this.#servers = new SlotTable({ capacity: maxLabelSets, retentionMs: SERVER_RETENTION_MS });
    this.#details = options.perTask ? new TaskDetails(serviceCode, options.maxTasks) : undefined;
    const accountBudget = options.accountBudget ?? new AccountBudget();
    this.#ledger = new Ledger({ ...options, maxStreamRate, accountBudget, details: this.#details });
    if (options.accountBudget === undefined) accountBudget.add(this.#ledger.accountShare);
  }

  /** Takes effect with the next listing. */
  set stallAfterMs(stallAfterMs: number) {
    this.#ledger.stallAfterMs = stallAfterMs;
  }

  /** Takes effect with the next listing. */
  set pollIntervalMs(pollIntervalMs: number) {
    this.#ledger.pollIntervalMs = pollIntervalMs;
  }

  /** Takes effect with the next listing. */
  set expectation(expectation: Expectation | undefined) {
    this.#expectedTasks.expectation = expectation;
  }

  /** The accounts of the service code. */
  get accountShare(): AccountShare {
    return this.#ledger.accountShare;
  }

  /** Number of good listings, in this process and before. */
  get listings(): number {
    return this.#ledger.progress?.listings ?? 0;
  }

  /**
   * Restores the state of another tally into this one, which must not have taken a listing yet. Returns false, and
   * changes nothing, if records are missing or invalid.
   */
  restore(records: readonly StateRecord[], now: Instant): boolean {
    return restoreRecords(this.#parts, records, now);
  }

  /** Takes a good listing, once. */
  commit(listing: Listing, at: Instant): CommitResult {
    const accumulator = new Accumulator();
    const time = this.#toTimeline(at);
    const servers = listServers(listing);
    for (const format of listWatchedFormats(listing))
      if (this.#meteredFormats.size < this.#maxLabelSets) this.#meteredFormats.add(format);
    this.#servers.assign(
      Array.from(servers, (key) => ({ key })),
      time,
    );
    this.#details?.beginCommit(listing, this.#expectedTasks.names, time);
    countFindings(listing, accumulator);
    const serverSums = this.#ledger.commit(
      { ...listing, accumulator, expectedNames: this.#expectedTasks.names },
      time,
    );
    const gauges = recordOf(LISTING_GAUGES, (gauge) =>
      this.#gauges[gauge].commit(this.#selectSums(listing.sums, accumulator, gauge), time),
    );
    const { byteCountImplausible } = accumulator.increases;
    const snapshot: Snapshot = {
      at,
      users: listing.users,
      tasks: listing.taskCount,
      implausibleGains: {
        input: byteCountImplausible.at('input').value,
        http_output: byteCountImplausible.at('http_output').value,
      },
      rejected: {
        count: listing.invalidRecords.reduce((sum, { count }) => sum + count, 0),
        first: listing.firstRejected[0],
      },
      tasksWithoutAccount: listing.taskCount - listing.tasks.size,
      invalidFields: listing.invalidFields,
      foreignRecords: listing.foreignRecords,
      notableTasks: nameNotableTasks(listing.tasks, serverSums),
      expectedTasks: this.#expectedTasks.commit(listing.tasks.values(), this.#ledger, at),
      surplus: listing.surplus,
      // Assigned, not spread: spreading makes V8 create a hidden class for each snapshot.
      listing: Object.assign(
        gauges,
        {
          listingUsers: this.#toGauge(listing.users),
          listingTasks: this.#toGauge(listing.taskCount),
          servers: this.#toGauge(servers.size),
          serverLastSeen: this.#toTimes(this.#servers.entries),
          oldestTaskFirstSeen: this.#collectOldest(serverSums),
          foldedLabelSets: this.#collectFoldedLabelSets(servers),
        },
        this.#details?.collectGauges(this.#ledger),
      ),
      counters: this.collectCounters(),
    };
    return { snapshot, records: createRecords(this.#parts) };
  }

  /** The records after the last commit, or as restored; `undefined` before the first good listing. */
  get records(): TallyRecords | undefined {
    return this.listings === 0 ? undefined : createRecords(this.#parts);
  }

  /** The counters after the last commit, or as they were restored. */
  collectCounters(): Snapshot['counters'] {
    return Object.assign(
      recordOf(LEDGER_COUNTERS, (counter) => this.#ledger.counters[counter].collect()),
      { taskLifetime: [this.#ledger.lifetimes.toSample([this.serviceCode])] },
      this.#details?.collectCounters(this.#ledger),
    );
  }

  get #parts(): TallyParts {
    return {
      ledger: this.#ledger,
      servers: this.#servers,
      details: this.#details,
      meteredFormats: this.#meteredFormats,
      timeline: this.#timeline,
    };
  }

  /** In whole milliseconds, which take half the digits. */
  #toTimeline({ wallMs, monotonicMs }: Instant): Instant {
    return { wallMs, monotonicMs: Math.round(monotonicMs + this.#timeline.offsetMs) };
  }

  #toGauge(value: number): readonly PlainSample[] {
    return [{ labels: [this.serviceCode], value }];
  }

  /** The label sets of a gauge and their values. */
  #selectSums(sums: Sums, accumulator: Accumulator, gauge: ListingGauge): Iterable<LabelSum> {
    if (isLedgerGauge(gauge)) return accumulator.gauges[gauge];
    const all = listSums(sums, gauge);
    if (gauge === 'tasks' || gauge === 'serverOnlineUsers') return this.#addIdleServers(all);
    if (gauge !== 'outputsUnwatched') return all;
    // A format that the service does not meter has no connections, watched or not.
    return [...all].filter(({ labels }) => this.#meteredFormats.has(labels[1] ?? ''));
  }

  /** A server that had users or tasks within the hour and has none now is exposed at 0, so that a drop is visible. */
  *#addIdleServers(sums: Iterable<LabelSum>): Generator<LabelSum, void> {
    const present = new Set<string>();
    for (const sum of sums) {
      present.add(sum.key);
      yield sum;
    }
    for (const [vsId] of this.#servers.entries) {
      const { key, labels } = toKeyedLabels([vsId]);
      if (!present.has(key)) yield { key, labels, value: 0 };
    }
  }

  /** The servers with the oldest tasks, up to the limit: a time has no sum to fold into. */
  #collectOldest(serverSums: ServerSums): SampleColumns {
    const oldest = [...serverSums.listOldest()]
      .toSorted(([, a], [, b]) => a.monotonicMs - b.monotonicMs)
      .slice(0, this.#maxLabelSets);
    return this.#toTimes(oldest);
  }

  /** A moment of each server. */
  #toTimes(moments: Iterable<readonly [vsId: string, at: Instant]>): SampleColumns {
    const labelSets = Array.from(moments, ([vsId]): LabelSet => [vsId]);
    const seconds = Array.from(moments, ([, { wallMs }]) => wallMs / 1000);
    return new SampleColumns(this.serviceCode, labelSets, seconds);
  }

  #collectFoldedLabelSets(servers: ReadonlySet<string>): readonly PlainSample[] {
    const counts = new Map<CounterFamilyKey | ListingFamily, number>();
    for (const gauge of LISTING_GAUGES) counts.set(gauge, this.#gauges[gauge].limiter.foldedLabelSets);
    for (const counter of LEDGER_COUNTERS)
      counts.set(counter, this.#ledger.counters[counter].limiter.foldedLabelSets);
    counts.set('serverLastSeen', [...servers].filter((vsId) => !this.#servers.has(vsId)).length);
    counts.set('taskInfo', this.#details?.omittedCount ?? 0);
    for (const [family, count] of counts) if (count > 0) this.#everFolded.add(family);
    return [...this.#everFolded].map((family) => ({
      labels: [this.serviceCode, CATALOGUE[family].name],
      value: counts.get(family) ?? 0,
    }));
  }
}
