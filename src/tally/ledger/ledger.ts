import type { TaskReading } from '../../listing/listing-sink.ts';
import { CATALOGUE } from '../../metrics/catalogue.ts';
import type { HistogramSample } from '../../metrics/family.ts';
import { Histogram, type PersistedHistogram } from '../../metrics/histogram.ts';
import { recordOf } from '../../runtime/record-of.ts';
import { runInSteps, type ItemCount } from '../../runtime/steps.ts';
import type { Accumulator } from '../accumulator-pool.ts';
import { CounterFamily } from '../counter-family.ts';
import { LEDGER_COUNTERS, type LedgerCounter } from '../family-keys.ts';
import type { Instant } from '../instant.ts';
import { LabelFolding } from '../label-folding.ts';
import type { OutputSums } from '../output-sums.ts';
import type { TaskObserver } from '../task-observer.ts';
import { TaskIndex } from '../task-index.ts';
import { countDepartedParts, DepartedAccounts } from './departed-accounts.ts';
import type { Gain, MatchTimes } from './gains.ts';
import { updateInput } from './input-gains.ts';
import { updateOutputs, type OutputGainSink } from './output-gains.ts';
import type { LedgerSettings } from './ledger-settings.ts';
import { ServerSums, type ServerSum } from './server-sums.ts';
import { updateStalls } from './stalls.ts';
import { createTaskAccount, hasFlag, setFlag, TaskFlag, type TaskAccount } from './task-account.ts';

export interface LedgerOptions extends LedgerSettings {
  readonly serviceCode: string;
  readonly maxLabelSets: number;
  readonly stallAfterMs: number;
  readonly observer: TaskObserver | undefined;
}

/** Progress of a ledger. */
export interface LedgerProgress {
  /** Number of good listings, the baseline included. */
  readonly listings: number;
  /** When the last good listing was taken. */
  readonly last: Instant;
}

/** What identifies a task. */
export type TaskKey = Pick<TaskReading, 'id' | 'vsId'>;

/** The tasks of a listing and its sums. */
interface ListingToCommit {
  readonly tasks: TaskIndex<TaskReading>;
  readonly accumulator: Accumulator;
  readonly outputSums: OutputSums;
}

/** A commit under way. */
interface Commit {
  readonly at: Instant;
  readonly tasks: TaskIndex<TaskReading>;
  readonly isBaseline: boolean;
  readonly forgetBeforeMs: number;
  readonly accumulator: Accumulator;
  readonly outputSums: OutputSums;
  readonly servers: ServerSums;
}

/** A task of the listing under way and its account. */
interface TaskUpdate extends MatchTimes {
  readonly commit: Commit;
  readonly account: TaskAccount;
  readonly reading: TaskReading;
  readonly server: ServerSum;
  /** Whether the task had no account before this listing. */
  readonly isNew: boolean;
  /** Time since the task was last seen, or since the last listing if it is new; at least `MIN_ELAPSED_MS`. */
  readonly elapsedMs: number;
}

/** Families whose label sets are a closed set. */
const CLOSED_FAMILIES: readonly LedgerCounter[] = [
  'byteCounterResets',
  'byteCountImplausible',
  'departedTasksEvicted',
];

/** Two listings can be committed closer together than the service made them. */
const MIN_ELAPSED_MS = 1000;

type Direction = 'input' | 'http_output';

/**
 * Turns the byte counts of tasks, which come and go, into counters that never decrease and count no byte twice: it
 * keeps one account for each thing that the service meters, and adds up what the accounts gain.
 *
 * A commit first updates the account of each task on its own, then those of tasks that left, then the counters. It runs
 * in steps. Between two of them the accounts belong to two listings, so that they must not be read.
 */
export class Ledger {
  readonly counters: Readonly<Record<LedgerCounter, CounterFamily>>;
  /** How long the input or the progress of a task is unchanged before the task is stalled. */
  stallAfterMs: number;
  readonly #settings: LedgerSettings;
  readonly #lifetimes = new Histogram(CATALOGUE.taskLifetime.buckets);
  readonly #observer: TaskObserver | undefined;
  readonly #accounts = new TaskIndex<TaskAccount>();
  /** Accounts of the tasks of the last good listing. */
  #live: TaskAccount[] = [];
  readonly #departed: DepartedAccounts;
  #listingCount = 0;
  #lastCommit: Instant | undefined;
  /** Accounts of tasks that left with the last commit. */
  #left: TaskAccount[] = [];
  /** Tasks, by id and server, under which the last commit has removed an account. */
  #removed: TaskKey[] = [];

  constructor(options: LedgerOptions) {
    this.counters = recordOf(LEDGER_COUNTERS, (counter) => {
      const limit = CLOSED_FAMILIES.includes(counter) ? Number.POSITIVE_INFINITY : options.maxLabelSets;
      return new CounterFamily(options.serviceCode, new LabelFolding(counter, limit));
    });
    this.stallAfterMs = options.stallAfterMs;
    this.#settings = options;
    this.#departed = new DepartedAccounts(options.rememberTasksForMs, options.maxDepartedAccounts);
    this.#observer = options.observer;
  }

  /** The account of a task that is in the last good listing, or left a while ago. */
  getTask({ id, vsId }: TaskKey): TaskAccount | undefined {
    return this.#accounts.get(id, vsId);
  }

  /** Takes the tasks of a good listing; adds to its gauges what only accounts tell. Returns the sums by server. */
  *commit(
    { tasks, accumulator, outputSums }: ListingToCommit,
    at: Instant,
  ): Generator<ItemCount, ServerSums> {
    const commit: Commit = {
      at,
      tasks,
      isBaseline: this.#lastCommit === undefined,
      forgetBeforeMs: this.#departed.computeForgetBeforeMs(at),
      accumulator,
      outputSums,
      servers: new ServerSums(accumulator),
    };
    this.#left = [];
    this.#removed = [];
    this.#addClosedLabelSets(accumulator);
    yield* runInSteps(this.#departed.expire(at), (account) => this.#remove(account));
    const live: TaskAccount[] = [];
    yield* runInSteps(tasks, (reading) => live.push(this.#commitTask(reading, commit)), countItems);
    yield* runInSteps(this.#live, (account) => {
      if (account.lastSeen !== at) this.#depart(account, commit);
    });
    this.#live = live;
    yield* runInSteps(this.#departed.evict(), (account) => this.#evict(account, accumulator));
    for (const counter of LEDGER_COUNTERS) {
      this.counters[counter].commit(accumulator.increases[counter], at);
      yield this.counters[counter].size;
    }
    this.#listingCount += 1;
    this.#lastCommit = at;
    return commit.servers;
  }

  /** Number of good listings, the baseline included. */
  get listings(): number {
    return this.#listingCount;
  }

  /** `undefined` before the baseline. */
  get progress(): LedgerProgress | undefined {
    if (this.#lastCommit === undefined) return undefined;
    return { listings: this.#listingCount, last: this.#lastCommit };
  }

  /** All accounts: of the tasks of the last good listing, then of those that left, the first to leave first. */
  *listAccounts(): Generator<TaskAccount, void> {
    yield* this.#live;
    yield* this.#departed.tasks;
  }

  /** The accounts that the last commit changed. */
  *listChangedAccounts(): Generator<TaskAccount, void> {
    yield* this.#live;
    for (const account of this.#left) if (this.getTask(account) === account) yield account;
  }

  /** Tasks, by id and server, under which the last commit has removed an account. It may have added another. */
  get removedTasks(): readonly TaskKey[] {
    return this.#removed;
  }

  get persistedLifetimes(): PersistedHistogram {
    return this.#lifetimes.persisted;
  }

  /** Continues from the progress of an earlier ledger: the next listing is no baseline. */
  restoreProgress({ listings, last }: LedgerProgress): void {
    this.#listingCount = listings;
    this.#lastCommit = last;
  }

  /** Restores an account; those of one ledger must come in the order in which they left. */
  restoreAccount(account: TaskAccount): void {
    this.#accounts.add(account);
    if (account.lastSeen === this.#lastCommit) this.#live.push(account);
    else this.#departed.add(account);
    if (account.rare !== undefined) this.#departed.updateParts(listDepartedParts(account), 0);
  }

  restoreLifetimes(persisted: PersistedHistogram): void {
    this.#lifetimes.restore(persisted);
  }

  collectLifetimes(serviceCode: string): HistogramSample {
    return this.#lifetimes.toSample([serviceCode]);
  }

  #addClosedLabelSets({ increases }: Accumulator): void {
    for (const direction of ['input', 'http_output'] as const) {
      increases.byteCounterResets.at(direction).add(0);
      increases.byteCountImplausible.at(direction).add(0);
    }
    increases.departedTasksEvicted.add(0);
  }

  #commitTask(reading: TaskReading, commit: Commit): TaskAccount {
    const { at } = commit;
    const found = this.#findAccount(reading, commit.tasks);
    const account = found ?? this.#createAccount(reading, commit);
    if (found !== undefined) this.#continueRun(found, reading.vsId, commit);
    const lastSeenMs = account.lastSeen.monotonicMs;
    const sinceMs = found === undefined ? this.#lastCommit?.monotonicMs : lastSeenMs;
    const update: TaskUpdate = {
      commit,
      account,
      reading,
      server: commit.servers.get(reading.vsId),
      isNew: found === undefined,
      lastSeenMs,
      forgetBeforeMs: commit.forgetBeforeMs,
      elapsedMs: Math.max(MIN_ELAPSED_MS, at.monotonicMs - (sinceMs ?? at.monotonicMs)),
    };
    const departedPartCount = countDepartedParts(account);
    this.#commitInput(update);
    updateOutputs(update, this.#addOutputGain);
    if (account.rare !== undefined) this.#updateDepartedParts(account, departedPartCount, commit.accumulator);
    updateStalls(update, this.stallAfterMs);
    account.lastSeen = at;
    return account;
  }

  /** The account of a task: its own, or that of a task with its id that left another server. */
  #findAccount({ id, vsId }: TaskReading, tasks: TaskIndex<TaskReading>): TaskAccount | undefined {
    const own = this.#accounts.get(id, vsId);
    if (own !== undefined) return own;
    const namesakes = this.#accounts.listById(id);
    if (namesakes.length === 0) return undefined;
    const [mostRecent] = namesakes
      .filter((account) => tasks.get(id, account.vsId) === undefined)
      .toSorted(compareRecency);
    return mostRecent;
  }

  #createAccount(reading: TaskReading, { at, isBaseline, servers }: Commit): TaskAccount {
    const account = createTaskAccount(reading, at, isBaseline ? TaskFlag.isFromBaseline : 0);
    this.#accounts.add(account);
    servers.get(reading.vsId).started.add(isBaseline ? 0 : 1);
    return account;
  }

  /** Continues a run that was in the last listing, comes back, or moves from one server to another. */
  #continueRun(account: TaskAccount, vsId: string, { servers }: Commit): void {
    if (account.lastSeen !== this.#lastCommit) this.#departed.delete(account);
    if (account.vsId === vsId) return;
    if (!hasFlag(account, TaskFlag.isEndCounted)) servers.get(account.vsId).ended.add(1);
    setFlag(account, TaskFlag.isEndCounted, false);
    servers.get(vsId).started.add(1);
    this.#removed.push({ id: account.id, vsId: account.vsId });
    account.vsId = vsId;
  }

  #commitInput(update: TaskUpdate): void {
    const { commit, account, reading, server, isNew, elapsedMs } = update;
    const gain = updateInput(account, reading, isNew && !commit.isBaseline, update);
    const hasFlowed = account.accountedInputBytes > 0;
    if (hasFlowed) setFlag(account, TaskFlag.hasFlowed, true);
    // Without a valid value the input may have flowed.
    if (gain === undefined || gain.bytes > 0 || gain.resetCount > 0) account.lastActivity = commit.at;
    const bytes =
      gain === undefined
        ? 0
        : this.#countGain(gain, this.#settings.maxInputBytesPerSecond, elapsedMs, 'input', commit);
    server.inputBytes.add(bytes);
    if (reading.protocol !== undefined)
      commit.accumulator.increases.protocolInputBytes.at(reading.protocol).add(bytes);
    this.#observer?.onInput(reading, bytes);
  }

  readonly #addOutputGain: OutputGainSink<TaskUpdate> = ({ commit, reading }, output, gain, elapsedMs) => {
    const bytes = commit.isBaseline
      ? 0
      : this.#countGain(gain, this.#settings.maxOutputBytesPerSecond, elapsedMs, 'http_output', commit);
    const sum = commit.outputSums.get(output.serverFormatRow);
    sum.add(bytes);
    commit.outputSums.get(output.renditionRow).add(bytes);
    this.#observer?.onOutput(reading, sum.label, bytes);
  };

  /** Counts resets, and implausible gains; returns the bytes to add. */
  #countGain(
    { bytes, resetCount }: Gain,
    maxBytesPerSecond: number,
    elapsedMs: number,
    direction: Direction,
    { accumulator: { increases } }: Commit,
  ): number {
    if (resetCount > 0) increases.byteCounterResets.at(direction).add(resetCount);
    if (bytes <= (maxBytesPerSecond * elapsedMs) / 1000) return bytes;
    increases.byteCountImplausible.at(direction).add(1);
    return 0;
  }

  /** Ends the run of a task that is not in this listing; its account stays for a while. */
  #depart(account: TaskAccount, { servers }: Commit): void {
    setFlag(account, TaskFlag.isStalled, false);
    this.#departed.add(account);
    this.#left.push(account);
    if (hasFlag(account, TaskFlag.isEndCounted)) return;
    setFlag(account, TaskFlag.isEndCounted, true);
    servers.get(account.vsId).ended.add(1);
    if (hasFlag(account, TaskFlag.isFromBaseline) || hasFlag(account, TaskFlag.isLifetimeObserved)) return;
    setFlag(account, TaskFlag.isLifetimeObserved, true);
    this.#lifetimes.observe((account.lastSeen.monotonicMs - account.firstSeen.monotonicMs) / 1000);
  }

  #remove(account: TaskAccount): void {
    this.#accounts.delete(account);
    this.#removed.push(account);
  }

  #evict(account: TaskAccount, { increases }: Accumulator): void {
    this.#remove(account);
    increases.departedTasksEvicted.add(1);
  }

  #updateDepartedParts(account: TaskAccount, previousCount: number, { increases }: Accumulator): void {
    increases.departedTasksEvicted.add(this.#departed.updateParts(listDepartedParts(account), previousCount));
  }
}

const countItems = ({ inputs, outputs }: TaskReading): number => 1 + inputs.length + outputs.length;

/** The account that was seen last comes first; equally old ones come in an order that a restart does not change. */
function compareRecency(a: TaskAccount, b: TaskAccount): number {
  return b.lastSeen.monotonicMs - a.lastSeen.monotonicMs || (a.vsId < b.vsId ? -1 : 1);
}

function listDepartedParts({ rare }: TaskAccount): readonly number[][] {
  return rare === undefined ? [] : [rare.departedInputs, rare.departedOutputs];
}
