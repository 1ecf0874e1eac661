import type { ListingRows, TaskReading } from '../../listing/listing.ts';
import { addTo } from '../../listing/rows.ts';
import { CATALOGUE } from '../../metrics/catalogue/catalogue.ts';
import { Histogram } from '../../metrics/catalogue/histogram.ts';
import type { AccountBudget, AccountShare } from '../account-budget.ts';
import type { ExpectedCounters } from '../expected-counters.ts';
import type { Instant } from '../instant.ts';
import type { TaskDetails } from '../task-details.ts';
import { createFindings, type Findings, type CommitTimes } from './account.ts';
import { DepartedAccounts, REMEMBERED_MS } from './departed-accounts.ts';
import { areOwnInput, updateParts, type PartsUpdate } from './part-accounts.ts';
import { ServerSums, updateStalls, type LedgerRows, type ServerSum } from './server-sums.ts';
import {
  countAccounts,
  createTaskAccount,
  hasFlag,
  setFlag,
  TaskFlag,
  type TaskAccount,
} from './task-account.ts';
import { hasInput, updateInput, type InputUpdate } from './task-input.ts';

/** 100 Mbit/s, in bytes per second. */
export const DEFAULT_MAX_STREAM_RATE = 12.5e6;

/** A task that reads a file does so faster than its streams play. */
const FILE_RATE_FACTOR = 10;

export interface LedgerOptions {
  /** The rate that a stream exceeds only if three listings in a row are believed, in bytes per second. */
  readonly maxStreamRate: number;
  /** How long the input or the progress of a task is unchanged before the task is stalled. */
  readonly stallAfterMs: number;
  readonly pollIntervalMs: number;
  readonly details: TaskDetails | undefined;
  readonly expectedCounters: ExpectedCounters;
  /** Shared by all service codes. */
  readonly accountBudget: AccountBudget;
}

export interface LedgerProgress {
  /** Number of good listings, the baseline included. */
  readonly listings: number;
  readonly last: Instant;
}

/** The time between the process that wrote the accounts and this one. */
export type RestartGap = Pick<CommitTimes, 'restoredMs' | 'unknownGapMs'>;

interface ListingToCommit {
  readonly tasks: ReadonlyMap<string, TaskReading>;
  readonly rows: Pick<ListingRows, 'outputs' | 'renditions' | 'listingSurplus'> & LedgerRows;
  /** Tasks of these names get accounts before all others. */
  readonly expectedNames: readonly string[];
}

interface Commit extends ListingToCommit {
  readonly at: Instant;
  readonly isBaseline: boolean;
  /** Departed accounts that were last seen by then, in monotonic milliseconds, are forgotten. */
  readonly forgetBeforeMs: number;
  readonly servers: ServerSums;
  readonly inputFindings: Findings;
  readonly outputFindings: Findings;
}

interface TaskUpdate extends InputUpdate {
  readonly commit: Commit;
  readonly outputs: PartsUpdate;
  readonly server: ServerSum;
}

/**
 * Turns the byte counts of tasks, which come and go, into counters that never decrease and count no byte
 * twice: an account for each thing that the service meters, and the sums of what accounts gain.
 */
export class Ledger {
  stallAfterMs: number;
  /** A stream can have carried bytes for at least this long between two listings. */
  pollIntervalMs: number;
  readonly #maxStreamRate: number;
  readonly lifetimes = new Histogram(CATALOGUE.taskLifetime.buckets);
  readonly #details: TaskDetails | undefined;
  readonly #expectedCounters: ExpectedCounters;
  readonly #accounts = new Map<string, TaskAccount>();
  #live: TaskAccount[] = [];
  readonly #departed: DepartedAccounts;
  #listingCount = 0;
  #lastCommit: Instant | undefined;
  #commitBefore: Instant | undefined;
  /** When this process restored the accounts, and how long the gap was if the wall clock does not tell. */
  #gap: RestartGap = { restoredMs: Number.NEGATIVE_INFINITY, unknownGapMs: 0 };
  /** Ids of tasks of which the account was removed since the last commit ended. */
  #removed: string[] = [];
  #removedByCommit: readonly string[] = [];

  constructor(options: LedgerOptions) {
    this.stallAfterMs = options.stallAfterMs;
    this.pollIntervalMs = options.pollIntervalMs;
    this.#maxStreamRate = options.maxStreamRate;
    this.#departed = new DepartedAccounts(options.accountBudget, (account) => {
      this.#accounts.delete(account.id);
      this.#removed.push(account.id);
    });
    this.#details = options.details;
    this.#expectedCounters = options.expectedCounters;
  }

  get accountShare(): AccountShare {
    return this.#departed.share;
  }

  /** The account of a task that is in the last good listing, or left a while ago. */
  getTask(id: string): TaskAccount | undefined {
    return this.#accounts.get(id);
  }

  /** Adds to the rows of a good listing what only accounts tell. Returns the sums by server. */
  commit(listing: ListingToCommit, at: Instant): ServerSums {
    const { tasks, rows, expectedNames } = listing;
    const times: CommitTimes = {
      nowMs: at.monotonicMs,
      pollIntervalMs: this.pollIntervalMs,
      previousListingMs: this.#lastCommit?.monotonicMs,
      ...this.#gap,
    };
    const commit: Commit = {
      ...listing,
      at,
      isBaseline: this.#lastCommit === undefined,
      forgetBeforeMs: at.monotonicMs - REMEMBERED_MS,
      servers: new ServerSums(rows),
      inputFindings: createFindings(times, 'input'),
      outputFindings: createFindings(times, 'http_output'),
    };
    for (const account of this.#departed.listExpired(commit.forgetBeforeMs)) this.#departed.forget(account);
    // The accounts of tasks that left give way to those of new ones.
    for (const account of this.#live) if (!tasks.has(account.id)) this.#depart(account, commit);
    this.#live = [];
    for (const reading of sortByExpectation(tasks, expectedNames)) {
      const account = this.#commitTask(reading, commit);
      if (account !== undefined) this.#live.push(account);
    }
    this.#addFindings(commit);
    this.#listingCount += 1;
    this.#commitBefore = this.#lastCommit;
    this.#lastCommit = at;
    this.#removedByCommit = this.#removed;
    this.#removed = [];
    return commit.servers;
  }

  /** `undefined` before the baseline. */
  get progress(): LedgerProgress | undefined {
    if (this.#lastCommit === undefined) return undefined;
    return { listings: this.#listingCount, last: this.#lastCommit };
  }

  get accountCount(): number {
    return this.#accounts.size;
  }

  /** All accounts: of the last good listing, then of tasks that left, in the order in which they left. */
  *listAccounts(): Generator<TaskAccount, void> {
    yield* this.#live;
    yield* this.#departed.tasks;
  }

  *listChangedAccounts(): Generator<TaskAccount, void> {
    yield* this.#live;
    for (const account of this.#departed.tasks) if (account.lastSeen === this.#commitBefore) yield account;
  }

  /** Tasks that lost their account since the commit before the last; the last may have added another. */
  get removedTasks(): readonly string[] {
    return this.#removedByCommit;
  }

  /** Continues from the progress of an earlier ledger: the next listing is no baseline. */
  restoreProgress({ listings, last }: LedgerProgress, gap: RestartGap): void {
    this.#gap = gap;
    this.#listingCount = listings;
    this.#lastCommit = last;
  }

  /** Restores an account; those of one ledger must come in the order in which they left. */
  restoreAccount(account: TaskAccount): void {
    this.#accounts.set(account.id, account);
    this.#departed.share.add({ live: countAccounts(account) });
    if (account.lastSeen === this.#lastCommit) this.#live.push(account);
    else this.#departed.add(account);
  }

  #addFindings({ rows: { directions, evictions }, inputFindings, outputFindings }: Commit): void {
    for (const { direction, resetCount, implausibleCount } of [inputFindings, outputFindings]) {
      directions.count('byteCountResets', resetCount, direction);
      directions.count('byteCountImplausible', implausibleCount, direction);
    }
    evictions.count('departedTasksEvicted', this.#departed.takeEvictedCount());
  }

  /** Returns the account of a listed task; `undefined` if there is no room: the task counts as not listed. */
  #commitTask(reading: TaskReading, commit: Commit): TaskAccount | undefined {
    const found = this.getTask(reading.id);
    const lastAccountCount = found === undefined ? 0 : countAccounts(found);
    const isDeparted = found !== undefined && found.lastSeen !== this.#lastCommit;
    if (isDeparted) this.#departed.takeBack(found);
    if (!this.#departed.share.hasRoom({ live: countItems(reading) - lastAccountCount })) {
      if (isDeparted) this.#departed.add(found);
      else if (found !== undefined) this.#depart(found, commit);
      commit.rows.listingSurplus.count('listingSurplus', 1, 'account');
      return undefined;
    }
    const account = found ?? this.#createAccount(reading, commit);
    if (found !== undefined) this.#changeServer(found, reading.vsId, commit);
    const server = commit.servers.get(reading.vsId);
    const parts = this.#createPartsUpdate(account, reading, commit);
    const update = { commit, account, reading, server, isNew: found === undefined, ...parts };
    const isFlowing = this.#commitInput(update);
    this.#commitOutputs(update);
    this.#departed.updateCount(account, lastAccountCount);
    updateStalls(update, isFlowing, this.stallAfterMs);
    account.lastSeen = commit.at;
    return account;
  }

  #createAccount(reading: TaskReading, { at, isBaseline, servers }: Commit): TaskAccount {
    const account = createTaskAccount(reading, at, isBaseline ? TaskFlag.hasNoLifetime : 0);
    this.#accounts.set(account.id, account);
    servers.get(reading.vsId).add('tasksStarted', isBaseline ? 0 : 1);
    return account;
  }

  /** A task that appears under another server ends on one and starts on the other. */
  #changeServer(account: TaskAccount, vsId: string, { servers }: Commit): void {
    if (account.vsId === vsId) return;
    if (!hasFlag(account, TaskFlag.isEndCounted)) servers.get(account.vsId).add('tasksEnded', 1);
    setFlag(account, TaskFlag.isEndCounted, false);
    servers.get(vsId).add('tasksStarted', 1);
    account.vsId = vsId;
  }

  #commitInput(update: TaskUpdate): boolean {
    const { account, reading, server } = update;
    const { inputFindings, rows } = update.commit;
    const { growingCount, waitingCount } = inputFindings;
    const gainedBytes = updateInput(update);
    const bytes = gainedBytes ?? 0;
    server.add('inputBytes', bytes);
    this.#expectedCounters.addInput(reading, gainedBytes);
    this.#addWaiting(update, 'input', inputFindings.waitingCount - waitingCount);
    if (reading.protocol !== undefined) rows.protocols.count('protocolInputBytes', bytes, reading.protocol);
    this.#details?.addInput(reading, bytes);
    if (hasInput(reading)) setFlag(account, TaskFlag.hasFlowed, true);
    // Without a valid value the input may flow.
    return gainedBytes === undefined || inputFindings.growingCount > growingCount;
  }

  #commitOutputs(update: TaskUpdate): void {
    const { account, reading, commit } = update;
    const { outputs, renditions } = commit.rows;
    const { waitingCount } = commit.outputFindings;
    account.outputs = updateParts(account.outputs, reading.outputs, update.outputs, (output, bytes) => {
      addTo(outputs.columns.httpOutputBytes, output.outputRow, bytes);
      addTo(renditions.columns.renditionHttpOutputBytes, output.renditionRow, bytes);
      this.#details?.addOutput(reading, output.outputRow, bytes);
      this.#expectedCounters.addOutput(reading, output, bytes);
    });
    this.#addWaiting(update, 'http_output', commit.outputFindings.waitingCount - waitingCount);
  }

  #addWaiting({ commit, reading }: TaskUpdate, direction: string, count: number): void {
    if (count === 0) return;
    commit.rows.waiting.count('byteCountsWaiting', count, reading.vsId, direction);
    this.#expectedCounters.addWaiting(reading, count);
  }

  #createPartsUpdate(
    { lastSeen: { monotonicMs: lastSeenMs } }: TaskAccount,
    { progress = 0, inputs, inputCount }: TaskReading,
    { inputFindings, outputFindings, forgetBeforeMs }: Commit,
  ): Pick<TaskUpdate, 'inputs' | 'inputRate' | 'outputs'> {
    const maxStreamRate = this.#maxStreamRate;
    const oneInputRate = progress > 0 ? FILE_RATE_FACTOR * maxStreamRate : maxStreamRate;
    const inputRate = oneInputRate * Math.max(1, inputCount);
    const streamRate = areOwnInput(inputs) ? inputRate : oneInputRate;
    return {
      inputs: { findings: inputFindings, streamRate, lastSeenMs, forgetBeforeMs },
      inputRate,
      outputs: { findings: outputFindings, streamRate: maxStreamRate, lastSeenMs, forgetBeforeMs },
    };
  }

  #depart(account: TaskAccount, { servers }: Commit): void {
    this.#departed.add(account);
    setFlag(account, TaskFlag.isStalled, false);
    if (hasFlag(account, TaskFlag.isEndCounted)) return;
    setFlag(account, TaskFlag.isEndCounted, true);
    servers.get(account.vsId).add('tasksEnded', 1);
    if (hasFlag(account, TaskFlag.hasNoLifetime)) return;
    setFlag(account, TaskFlag.hasNoLifetime, true);
    this.lifetimes.observe((account.lastSeen.monotonicMs - account.firstSeen.monotonicMs) / 1000);
  }
}

function sortByExpectation(
  tasks: ReadonlyMap<string, TaskReading>,
  expectedNames: readonly string[],
): Iterable<TaskReading> {
  if (expectedNames.length === 0) return tasks.values();
  const names = new Set(expectedNames);
  const isExpected = ({ name }: TaskReading): boolean => name !== undefined && names.has(name);
  return [...tasks.values()].toSorted((a, b) => Number(isExpected(b)) - Number(isExpected(a)));
}

const countItems = ({ inputs, outputs }: TaskReading): number => Math.max(1, inputs.length) + outputs.length;
