import type { TaskReading } from '../../listing/listing.ts';
import { LISTING_FAMILIES } from '../../listing/catalogue.ts';
import { Histogram } from '../../families/histogram.ts';
import type { TextRows } from '../../listing/rows.ts';
import type { AccountBudget, AccountShare } from '../account-budget.ts';
import type { Instant } from '../../runtime/instant.ts';
import { createFindings, type Findings } from './account.ts';
import { createCommitTimes, hasGap, type RestartGap } from './commit-times.ts';
import { DepartedAccounts, REMEMBERED_MS } from './departed-accounts.ts';
import { areOwnInput, updateParts, type PartsUpdate } from './part-accounts.ts';
import { updateStalls, type LedgerRows, type ServerSum, type ServerSums } from './server-sums.ts';
import type { InputEvidence, TaskFlow } from './server-sums.ts';
import {
  addLastSeen,
  countAccounts,
  createTaskAccount,
  hasFlag,
  setFlag,
  TaskFlag,
  type TaskAccount,
} from './task-account.ts';
import { hasInput, updateInput, type InputUpdate } from './task-input.ts';

/** How much faster than its streams play a task may read a file. */
const FILE_RATE_FACTOR = 10;

export interface LedgerOptions {
  /** The rate that a stream exceeds only if three listings in a row confirm it, in bytes per second. */
  readonly maxStreamRate: number;
  /** How long the input or the progress of a task is unchanged before the task is stalled. */
  readonly stallAfterMs: number;
  readonly pollIntervalMs: number;
  /** Shared by all service codes. */
  readonly accountBudget: AccountBudget;
}

export interface LedgerProgress {
  /** Number of good listings, the baseline included. */
  readonly listings: number;
  readonly last: Instant;
}

interface ListingToCommit {
  readonly tasks: ReadonlyMap<string, TaskReading>;
  readonly rows: { readonly listingSurplus: TextRows<'listingSurplus'> } & LedgerRows;
  /** Tasks of these names get accounts before all others. */
  readonly expectedNames: readonly string[];
  /** The sums by server, to which the ledger adds. */
  readonly servers: ServerSums;
}

/** The increase of the counts of a listed task since the last listing. */
export interface TaskIncrease {
  /** `undefined` if the listing has no valid value. */
  readonly inputBytes: number | undefined;
  /** By the index of the output in the reading; what is beyond its outputs has no meaning. */
  readonly outputBytes: readonly number[];
  /** How many byte counts of the task wait for later listings, by direction. */
  readonly waiting: Readonly<Record<Findings['direction'], number>>;
  readonly flow: TaskFlow;
  /** When its input last flowed, or its progress changed, in monotonic milliseconds. */
  readonly activeMs: number;
}

type TakeIncrease = (reading: TaskReading, increase: TaskIncrease) => void;

interface OpenIncrease {
  inputBytes: number | undefined;
  readonly outputBytes: number[];
  readonly waiting: Record<Findings['direction'], number>;
  flow: TaskFlow;
  activeMs: number;
}

interface Commit extends ListingToCommit {
  readonly at: Instant;
  readonly isBaseline: boolean;
  /** Whether tasks that are new have just started. */
  readonly isStartSeen: boolean;
  /** Whether polls have failed for so long that one listing does not tell what is idle. */
  readonly isAfterGap: boolean;
  /** Departed accounts that were last seen by then, in monotonic milliseconds, are forgotten. */
  readonly forgetBeforeMs: number;
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
 * twice: an account for each thing that the service meters, and the sums of their increases.
 */
export class Ledger {
  stallAfterMs: number;
  /** A stream can have carried bytes for at least this long between two listings. */
  pollIntervalMs: number;
  readonly #maxStreamRate: number;
  readonly lifetimes = new Histogram(LISTING_FAMILIES.taskLifetime.buckets);
  readonly #accounts = new Map<string, TaskAccount>();
  #live: TaskAccount[] = [];
  readonly #departed: DepartedAccounts;
  /** The tasks that left with the last commit. */
  #left: TaskAccount[] = [];
  #listingCount = 0;
  #lastCommit: Instant | undefined;
  #isAfterGap = false;
  /** When this process restored the accounts, and how long the gap was if the wall clock does not tell. */
  #gap: RestartGap = { restoredMs: Number.NEGATIVE_INFINITY, unknownGapMs: 0 };
  /** Ids of tasks of which the account was removed since the last commit ended. */
  #removed: string[] = [];
  #removedByCommit: readonly string[] = [];
  /** One object serves all tasks: an object for each would take longer than all else that a commit does. */
  readonly #increase: OpenIncrease = {
    inputBytes: undefined,
    outputBytes: [],
    waiting: { input: 0, http_output: 0 },
    flow: 'other',
    activeMs: 0,
  };
  readonly #setOutputIncrease = (index: number, bytes: number): void => {
    this.#increase.outputBytes[index] = bytes;
  };

  constructor(options: LedgerOptions) {
    this.stallAfterMs = options.stallAfterMs;
    this.pollIntervalMs = options.pollIntervalMs;
    this.#maxStreamRate = options.maxStreamRate;
    this.#departed = new DepartedAccounts(options.accountBudget, (account) => {
      this.#accounts.delete(account.id);
      this.#removed.push(account.id);
    });
  }

  get accountShare(): AccountShare {
    return this.#departed.share;
  }

  /** The account of a task that is in the last good listing, or left a while ago. */
  getTask(id: string): TaskAccount | undefined {
    return this.#accounts.get(id);
  }

  /** Compares a good listing with the accounts. `take` gets the increase of each task while it runs. */
  commit(listing: ListingToCommit, at: Instant, take: TakeIncrease): void {
    const { tasks, expectedNames } = listing;
    const times = createCommitTimes(this.#lastCommit, at, this.pollIntervalMs, this.#gap);
    // Where polls are always late, every second listing tells what is idle.
    this.#isAfterGap = !this.#isAfterGap && hasGap(times, this.stallAfterMs);
    const commit: Commit = {
      ...listing,
      at,
      isBaseline: this.#lastCommit === undefined,
      isStartSeen:
        this.#lastCommit !== undefined &&
        !(this.#gap.unknownGapMs > 0 && this.#lastCommit.monotonicMs <= this.#gap.restoredMs) &&
        at.monotonicMs - this.#lastCommit.monotonicMs <= 3.5 * this.pollIntervalMs,
      isAfterGap: this.#isAfterGap,
      forgetBeforeMs: at.monotonicMs - REMEMBERED_MS,
      inputFindings: createFindings(times, 'input'),
      outputFindings: createFindings(times, 'http_output'),
    };
    this.#left = [];
    for (const account of this.#departed.listExpired(commit.forgetBeforeMs)) this.#departed.forget(account);
    for (const account of this.#live) if (!tasks.has(account.id)) this.#depart(account, commit);
    this.#live = [];
    for (const reading of this.#departExcess(sortByExpectation(tasks, expectedNames), commit)) {
      const account = this.#commitTask(reading, commit);
      if (account === undefined) continue;
      this.#live.push(account);
      take(reading, this.#increase);
    }
    this.#addFindings(commit);
    this.accountShare.evictExcess();
    this.#listingCount += 1;
    this.#lastCommit = at;
    this.#removedByCommit = this.#removed;
    this.#removed = [];
  }

  /** `undefined` before the baseline. */
  get progress(): LedgerProgress | undefined {
    if (this.#lastCommit === undefined) return undefined;
    return { listings: this.#listingCount, last: this.#lastCommit };
  }

  /** Tasks of the last good listing that have accounts. */
  get liveTaskCount(): number {
    return this.#live.length;
  }

  get accountCount(): number {
    return this.#accounts.size;
  }

  /** The sum of when the tasks of all accounts were last listed, see {@link addLastSeen}. */
  get lastSeenSum(): number {
    return this.#live.reduce((sum, account) => addLastSeen(sum, account), this.#departed.lastSeenSum);
  }

  /** All accounts: of the last good listing, then of tasks that left, in the order in which they left. */
  *listAccounts(): Generator<TaskAccount, void> {
    yield* this.#live;
    yield* this.#departed.tasks;
  }

  *listChangedAccounts(): Generator<TaskAccount, void> {
    yield* this.#live;
    for (const account of this.#left) if (this.getTask(account.id) === account) yield account;
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
    this.#departed.updateCount(account, 0);
    if (account.lastSeen === this.#lastCommit) this.#live.push(account);
    else this.#departed.add(account);
  }

  #addFindings({ rows: { directions }, inputFindings, outputFindings }: Commit): void {
    for (const { direction, resetCount, implausibleCount } of [inputFindings, outputFindings]) {
      directions.count('byteCountResets', resetCount, direction);
      directions.count('byteCountImplausible', implausibleCount, direction);
    }
  }

  /** Treats the last tasks as not listed if other codes need their accounts. Returns the other tasks. */
  #departExcess(readings: readonly TaskReading[], commit: Commit): readonly TaskReading[] {
    let { excess } = this.accountShare;
    if (excess === 0) return readings;
    const kept = readings.toReversed().filter(({ id }) => {
      const account = this.getTask(id);
      if (account === undefined || account.lastSeen !== this.#lastCommit || excess <= 0) return true;
      excess -= countAccounts(account);
      this.#depart(account, commit);
      countWithoutAccount(commit);
      return false;
    });
    return kept.toReversed();
  }

  /** Returns the account of a listed task; `undefined` beyond the budget: the task counts as not listed. */
  #commitTask(reading: TaskReading, commit: Commit): TaskAccount | undefined {
    const found = this.getTask(reading.id);
    const isDeparted = found !== undefined && found.lastSeen !== this.#lastCommit;
    const countBefore = found === undefined ? 0 : countAccounts(found);
    if (!this.accountShare.canAdd(countItems(reading) - (isDeparted ? 0 : countBefore))) {
      if (found !== undefined && !isDeparted) this.#depart(found, commit);
      countWithoutAccount(commit);
      return undefined;
    }
    if (isDeparted) this.#departed.takeBack(found);
    const account = found ?? this.#createAccount(reading, commit);
    if (found === undefined || isDeparted) this.#beginRun(account, reading, commit);
    else this.#changeServer(found, reading.vsId, commit);
    const server = commit.servers.get(reading.vsId);
    const parts = this.#createPartsUpdate(account, reading, commit);
    const update = { commit, account, reading, server, isNew: found === undefined, ...parts };
    const { inputs, outputs } = account;
    const evidence = this.#commitParts(update);
    // If all parts have grown, the arrays of accounts are the same, and so is their number.
    if (found === undefined || account.inputs !== inputs || account.outputs !== outputs)
      this.#departed.updateCount(account, countBefore);
    this.#increase.flow = updateStalls(update, evidence, this.stallAfterMs);
    this.#increase.activeMs = account.lastActivity.monotonicMs;
    account.lastSeen = commit.at;
    return account;
  }

  #createAccount(reading: TaskReading, { at }: Commit): TaskAccount {
    const account = createTaskAccount(reading, at);
    this.#accounts.set(account.id, account);
    return account;
  }

  /** A task that was not in the good listing before has started. */
  #beginRun(
    account: TaskAccount,
    { vsId }: TaskReading,
    { at, isBaseline, isStartSeen, servers }: Commit,
  ): void {
    account.vsId = vsId;
    account.firstSeen = at;
    account.lastActivity = at;
    setFlag(account, TaskFlag.hasNoLifetime, !isStartSeen);
    setFlag(account, TaskFlag.hasFlowed, false);
    setFlag(account, TaskFlag.hasFlowedInSight, false);
    setFlag(account, TaskFlag.isStalled, false);
    servers.get(vsId).add('tasksStarted', isBaseline ? 0 : 1);
  }

  /** A task that appears under another server ends on one and starts on the other. */
  #changeServer(account: TaskAccount, vsId: string, { servers }: Commit): void {
    if (account.vsId === vsId) return;
    servers.get(account.vsId).add('tasksEnded', 1);
    servers.get(vsId).add('tasksStarted', 1);
    account.vsId = vsId;
  }

  #commitParts(update: TaskUpdate): InputEvidence {
    const { account, reading, server } = update;
    const { inputFindings, outputFindings } = update.commit;
    const { changedCount, undecidedCount, waitingCount: waitingInputs } = inputFindings;
    const { waitingCount: waitingOutputs } = outputFindings;
    const inputBytes = updateInput(update);
    server.add('inputBytes', inputBytes ?? 0);
    if (hasInput(reading)) setFlag(account, TaskFlag.hasFlowed, true);
    const increase = this.#increase;
    increase.inputBytes = inputBytes;
    account.outputs = updateParts(account.outputs, reading.outputs, update.outputs, this.#setOutputIncrease);
    increase.waiting.input = inputFindings.waitingCount - waitingInputs;
    increase.waiting.http_output = outputFindings.waitingCount - waitingOutputs;
    // A task without a valid value counts as one that receives data.
    if (inputBytes === undefined || inputFindings.changedCount > changedCount) return 'flowing';
    return inputFindings.undecidedCount > undecidedCount ? 'undecided' : 'idle';
  }

  #createPartsUpdate(
    { lastSeen: { monotonicMs: lastSeenMs } }: TaskAccount,
    { progress = 0, inputs, inputCount }: TaskReading,
    { inputFindings, outputFindings, forgetBeforeMs }: Commit,
  ): Pick<TaskUpdate, 'inputs' | 'outputs'> {
    const maxStreamRate = this.#maxStreamRate;
    const oneInputRate = progress > 0 ? FILE_RATE_FACTOR * maxStreamRate : maxStreamRate;
    const inputRate = oneInputRate * Math.max(1, inputCount);
    const streamRate = areOwnInput(inputs) ? inputRate : oneInputRate;
    return {
      inputs: { findings: inputFindings, streamRate, lastSeenMs, forgetBeforeMs },
      outputs: { findings: outputFindings, streamRate: maxStreamRate, lastSeenMs, forgetBeforeMs },
    };
  }

  #depart(account: TaskAccount, { servers }: Commit): void {
    this.#departed.add(account);
    this.#left.push(account);
    setFlag(account, TaskFlag.isStalled, false);
    servers.get(account.vsId).add('tasksEnded', 1);
    if (hasFlag(account, TaskFlag.hasNoLifetime)) return;
    // In whole seconds: polls are milliseconds early or late, and intervals meet the bounds of buckets.
    this.lifetimes.observe(Math.round((account.lastSeen.monotonicMs - account.firstSeen.monotonicMs) / 1000));
  }
}

function countWithoutAccount({ rows }: Commit): void {
  rows.listingSurplus.count('listingSurplus', 1, 'account');
}

function sortByExpectation(
  tasks: ReadonlyMap<string, TaskReading>,
  expectedNames: readonly string[],
): readonly TaskReading[] {
  const readings = [...tasks.values()];
  if (expectedNames.length === 0) return readings;
  const names = new Set(expectedNames);
  const isExpected = ({ name }: TaskReading): boolean => name !== undefined && names.has(name);
  return readings.toSorted((a, b) => Number(isExpected(b)) - Number(isExpected(a)));
}

const countItems = ({ inputs, outputs }: TaskReading): number => Math.max(1, inputs.length) + outputs.length;
