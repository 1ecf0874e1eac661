import { recordOf } from '../families/record-of.ts';
import { LISTING_FAMILIES } from '../listing/catalogue.ts';
import {
  COUNTED_GROUPS,
  familiesOf,
  LIMITED_GROUPS,
  type LimitedGroupName,
  type TableFamilyKey,
  type WholeGroupName,
} from '../listing/label-groups.ts';
import { isNamed, OTHER, UNKNOWN } from '../listing/label-values.ts';
import type { Listing } from '../listing/listing.ts';
import { labelIndexOf, sumColumn, TextRows, type RowsOf } from '../listing/rows.ts';
import { AccountBudget, type AccountShare } from './account-budget.ts';
import { addIncrease, openRows, type OpenRows } from './increases.ts';
import type { Instant } from '../runtime/instant.ts';
import { GroupRows } from './group-rows.ts';
import { ExpectedTasks, type Expectation } from './expectations.ts';
import { ExpectedCounters } from './expected-counters.ts';
import { Ledger, type LedgerOptions } from './ledger/ledger.ts';
import { ServerSums, type LedgerRows } from './ledger/server-sums.ts';
import { ListingFlows } from './listing-flows.ts';
import { Losses } from './losses/losses.ts';
import { nameTopTasks } from './top-tasks.ts';
import type { Counts, ListingProblems, Snapshot } from './snapshot.ts';
import {
  createRecords,
  restoreRecords,
  type StateRecord,
  type TallyParts,
  type TallyRecords,
} from './tally-state.ts';
import { TaskDetails } from './task-details.ts';

const FORMAT = labelIndexOf('outputs', 'format');

export interface TallyOptions extends Omit<LedgerOptions, 'accountBudget'> {
  readonly serviceCode: string;
  /** Label sets of a label group beyond this number fold. */
  readonly maxLabelSets: number;
  readonly perTask: boolean;
  readonly maxTasks: number;
  /** Shared by all service codes, each added while it is polled. Default: one without limit. */
  readonly accountBudget?: AccountBudget;
}

interface CommitResult {
  readonly snapshot: Snapshot;
  readonly problems: ListingProblems;
  readonly records: TallyRecords;
}

/** The state of one service code: complete listings in, snapshots out. */
export class Tally {
  readonly serviceCode: string;
  readonly #maxLabelSets: number;
  readonly #groups: Readonly<Record<LimitedGroupName, GroupRows>>;
  readonly #details: TaskDetails | undefined;
  readonly #ledger: Ledger;
  readonly #expectedTasks = new ExpectedTasks();
  readonly #expectedCounters = new ExpectedCounters();
  readonly #losses = new Losses();
  /** Formats of which some output has had a connection: the service meters them. */
  readonly #meteredFormats = new Set<string>();
  /** Families that have ever folded: from then on they are exposed, at 0 too. */
  readonly #everFolded = new Set<TableFamilyKey>();
  readonly #timeline = { offsetMs: 0 };

  constructor(options: TallyOptions) {
    const { serviceCode, maxLabelSets, accountBudget = new AccountBudget(Infinity) } = options;
    this.serviceCode = serviceCode;
    this.#maxLabelSets = maxLabelSets;
    this.#groups = recordOf(LIMITED_GROUPS, (group) => new GroupRows(group, maxLabelSets));
    this.#details = options.perTask ? new TaskDetails(options.maxTasks) : undefined;
    this.#ledger = new Ledger({ ...options, accountBudget });
  }

  /** Takes effect with the next listing, as do the other settings. */
  set stallAfterMs(stallAfterMs: number) {
    this.#ledger.stallAfterMs = stallAfterMs;
  }

  set pollIntervalMs(pollIntervalMs: number) {
    this.#ledger.pollIntervalMs = pollIntervalMs;
  }

  set expectation(expectation: Expectation | undefined) {
    this.#expectedTasks.expectation = expectation;
  }

  get accountShare(): AccountShare {
    return this.#ledger.accountShare;
  }

  /** Number of good listings, in this process and before. */
  get listings(): number {
    return this.#ledger.progress?.listings ?? 0;
  }

  /** Restores records before the first listing; false, and no change, if any is missing or invalid. */
  restore(records: readonly StateRecord[], now: Instant): boolean {
    return restoreRecords(this.#parts, records, now);
  }

  commit(listing: Listing, at: Instant): CommitResult {
    const time = this.#toTimeline(at);
    const ledgerRows = recordOf<LedgerRows>(COUNTED_GROUPS, (group) => new TextRows(group));
    const rows = Object.assign(ledgerRows, listing.rows, openRows(listing.rows));
    this.#hideUnmetered(rows.outputs);
    const expectedNames = this.#expectedTasks.names;
    this.#details?.beginCommit(listing, expectedNames);
    this.#expectedCounters.beginCommit(expectedNames, time);
    for (const task of listing.tasks.values()) this.#expectedCounters.list(task);
    const servers = new ServerSums(rows);
    const flows = new ListingFlows(rows.outputs);
    this.#ledger.commit({ tasks: listing.tasks, rows, expectedNames, servers }, time, (reading, increase) => {
      addIncrease(rows, reading, increase);
      this.#details?.add(reading, increase);
      this.#expectedCounters.add(reading, increase);
      flows.add(reading, increase);
    });
    for (const group of LIMITED_GROUPS)
      this.#groups[group].commit(rows[group], time, group === 'accounts' ? servers.absentRows : undefined);
    const { losses, rows: lossRows } = this.#losses.commit(
      { users: listing.users, tasks: listing.taskCount, rows, flows },
      time,
      {
        stallAfterMs: this.#ledger.stallAfterMs,
        pollIntervalMs: this.#ledger.pollIntervalMs,
        maxLabelSets: this.#maxLabelSets,
      },
    );
    const counts = this.collectCounts();
    const snapshot: Snapshot = {
      at,
      users: listing.users,
      tasks: listing.taskCount,
      rejected: {
        count: sumColumn(listing.rows.invalidRecords.columns.invalidRecords),
        first: listing.firstRejected[0],
      },
      tasksWithoutAccount: listing.taskCount - this.#ledger.liveTaskCount,
      topTasks: nameTopTasks(listing.tasks, servers),
      losses,
      expectedTasks: this.#expectedTasks.commit(listing.tasks.values(), this.#parts, at),
      expectedTaskCount: this.#expectedTasks.expectation?.tasks ?? 0,
      // Assigned, not spread: spreading makes V8 create a hidden class for each snapshot.
      rows: Object.assign(counts.rows, this.#collectWhole(listing, servers), lossRows),
      lifetimes: counts.lifetimes,
    };
    const { invalidRecords, invalidFields, foreignRecords, listingSurplus, directions } = rows;
    const problems = { invalidRecords, invalidFields, foreignRecords, listingSurplus, directions };
    return { snapshot, problems, records: createRecords(this.#parts) };
  }

  /** When the last good listing was taken, on the clocks of this process; `undefined` without one. */
  get lastListing(): Instant | undefined {
    const last = this.#ledger.progress?.last;
    return last && { ...last, monotonicMs: last.monotonicMs - this.#timeline.offsetMs };
  }

  /** The records after the last commit, or as restored; `undefined` before the first good listing. */
  get records(): TallyRecords | undefined {
    return this.listings === 0 ? undefined : createRecords(this.#parts);
  }

  /** What is counted after the last commit, or was restored, which is not exposed before a commit. */
  collectCounts(): Counts {
    const rows = recordOf<RowsOf<LimitedGroupName>>(LIMITED_GROUPS, (group) => this.#groups[group].published);
    const expectedRows = this.#expectedCounters.collect(this.#expectedTasks.names);
    const taskRows = this.#details?.collect(this.#ledger);
    return {
      rows: Object.assign(rows, expectedRows, taskRows),
      lifetimes: [this.#ledger.lifetimes.toSample()],
    };
  }

  get #parts(): TallyParts {
    return {
      ledger: this.#ledger,
      groups: this.#groups,
      details: this.#details,
      expectedCounters: this.#expectedCounters,
      expectedTasks: this.#expectedTasks,
      losses: this.#losses,
      meteredFormats: this.#meteredFormats,
      timeline: this.#timeline,
    };
  }

  /** In whole milliseconds, which take half the digits. */
  #toTimeline({ wallMs, monotonicMs }: Instant): Instant {
    return { wallMs, monotonicMs: Math.round(monotonicMs + this.#timeline.offsetMs) };
  }

  /** A format that the service has never been seen to meter has no connections, watched or not. */
  #hideUnmetered({ labelSets, columns: { httpConnections, outputsUnwatched } }: OpenRows['outputs']): void {
    const formats = labelSets.map((labels) => labels[FORMAT] ?? UNKNOWN);
    for (const [row, format] of formats.entries())
      if ((httpConnections[row] ?? 0) > 0 && this.#meteredFormats.size < this.#maxLabelSets)
        this.#meteredFormats.add(format);
    for (const [row, format] of formats.entries())
      if (!this.#meteredFormats.has(format)) outputsUnwatched[row] = Number.NaN;
  }

  #collectWhole(
    listing: Listing,
    serverSums: ServerSums,
  ): RowsOf<Exclude<WholeGroupName, 'losses' | 'serverLosses' | 'deliveryStops'>> {
    const totals = new TextRows('listing');
    totals.set({ listingUsers: listing.users, listingTasks: listing.taskCount });
    const serversSeen = new TextRows('serversSeen');
    for (const [labels, seen] of this.#groups.userServers.limit.listSeen())
      if (isNamed(labels)) serversSeen.set({ serverLastSeen: seen.wallMs / 1000 }, ...labels);
    const oldestTasks = this.#collectOldest(serverSums);
    return { listing: totals, serversSeen, oldestTasks, foldedLabelSets: this.#collectFolded() };
  }

  /** The servers with the oldest tasks, up to the limit: a time has no sum to fold into. */
  #collectOldest(serverSums: ServerSums): TextRows<'oldestTasks'> {
    const rows = new TextRows('oldestTasks');
    const oldest = [...serverSums.listOldest()]
      .filter(([vsId]) => vsId !== OTHER)
      .toSorted(([, a], [, b]) => a.monotonicMs - b.monotonicMs);
    for (const [vsId, { wallMs }] of oldest.slice(0, this.#maxLabelSets))
      rows.set({ oldestTaskFirstSeen: wallMs / 1000 }, vsId);
    return rows;
  }

  #collectFolded(): TextRows<'foldedLabelSets'> {
    const rows = new TextRows('foldedLabelSets');
    const count = (family: TableFamilyKey, folded: number): void => {
      if (folded > 0) this.#everFolded.add(family);
      if (this.#everFolded.has(family)) rows.set({ foldedLabelSets: folded }, LISTING_FAMILIES[family].name);
    };
    for (const group of LIMITED_GROUPS)
      for (const family of familiesOf(group)) count(family, this.#groups[group].limit.foldedCount);
    count('taskInfo', this.#details?.omittedCount ?? 0);
    return rows;
  }
}
