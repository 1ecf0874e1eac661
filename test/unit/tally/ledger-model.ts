import type { LedgerSettings } from '../../../src/tally/ledger/ledger-settings.ts';
import type { ListedCount, ListedTask, ServiceCounter, WorldTask } from './ledger-world.ts';
import { ModelCounter } from './model-counter.ts';

/*
 * A simple implementation of docs/counters.md, which computes the expected counters after each listing. It also computes
 * the bytes that the listed tasks carried; the difference is the part that listings cannot show.
 */

/** The account of an input or an output. */
interface PartAccount {
  /** `undefined` before its first valid value. */
  bytes: number | undefined;
  /** Time of the last listing with this part. */
  lastSeenMs: number;
  isDeparted: boolean;
}

type Parts = Map<ServiceCounter, PartAccount>;

/** The account of a task. */
interface TaskAccount {
  server: string;
  isEndCounted: boolean;
  lastSeenMs: number;
  source: 'task' | 'inputs' | undefined;
  inputBytes: number;
  /** Input bytes that have been counted. */
  accounted: number;
  readonly inputs: Parts;
  readonly outputs: Parts;
}

interface ModelState {
  readonly accounts: Map<WorldTask, TaskAccount>;
  /** The tasks of the last listing, in its order. */
  readonly live: readonly WorldTask[];
  /** Departed tasks in the order of departure. */
  readonly departed: readonly WorldTask[];
  readonly lastMs: number | undefined;
}

/** The times of the listing that is being committed. */
interface CommitContext {
  readonly atMs: number;
  readonly isBaseline: boolean;
  readonly forgetBeforeMs: number;
}

interface Gain {
  readonly bytes: number;
  readonly resets: number;
}

const NO_GAIN: Gain = { bytes: 0, resets: 0 };
const MIN_ELAPSED_MS = 1000;

export class LedgerModel {
  /** Counters by the key of their family. */
  readonly counters = {
    inputBytes: new ModelCounter(),
    httpOutputBytes: new ModelCounter(),
    byteCounterResets: new ModelCounter(),
    byteCountImplausible: new ModelCounter(),
    tasksStarted: new ModelCounter(),
    tasksEnded: new ModelCounter(),
    departedTasksEvicted: new ModelCounter(),
  };
  /** Bytes that the listed tasks carried since their baseline. */
  readonly truth = { input: 0, output: 0 };
  readonly baseline = new Map<string, number>();
  readonly #settings: LedgerSettings;
  #memory: ModelState = { accounts: new Map(), live: [], departed: [], lastMs: undefined };

  constructor(settings: LedgerSettings) {
    this.#settings = settings;
  }

  /** Counts the tasks of a server in the last listing, and those of them that returned after their end was counted. */
  countTasks(server: string): { readonly present: number; readonly returned: number } {
    const accounts = this.#memory.live.map((task) => this.#memory.accounts.get(task));
    const present = accounts.filter((account) => account?.server === server);
    return { present: present.length, returned: present.filter((account) => account?.isEndCounted).length };
  }

  /** Commits a listing. */
  commit(listing: readonly ListedTask[], atMs: number): void {
    const { accounts, live, departed, lastMs } = this.#memory;
    const forgetBeforeMs = atMs - this.#settings.rememberTasksForMs;
    const context = { atMs, isBaseline: lastMs === undefined, forgetBeforeMs };
    const expired = departed.filter((task) => (accounts.get(task)?.lastSeenMs ?? 0) <= forgetBeforeMs);
    for (const task of expired) accounts.delete(task);
    for (const listed of listing) this.#take(listed, context);
    const listedTasks = new Set(listing.map(({ task }) => task));
    const left = live.filter((task) => !listedTasks.has(task));
    for (const task of left) this.#end(task);
    const away = [...departed.filter((task) => !listedTasks.has(task) && accounts.has(task)), ...left];
    const evicted = away.splice(0, Math.max(0, away.length - this.#settings.maxDepartedAccounts));
    for (const task of evicted) accounts.delete(task);
    this.counters.departedTasksEvicted.add('', evicted.length);
    this.#memory = { accounts, live: groupById(listing), departed: away, lastMs: atMs };
    for (const counter of Object.values(this.counters)) counter.commit();
  }

  #take(listed: ListedTask, context: CommitContext): void {
    const { task } = listed;
    const { accounts, lastMs } = this.#memory;
    const known = accounts.get(task);
    const account = known ?? createAccount(task.server);
    accounts.set(task, account);
    if (known === undefined) this.#start(task.server, context.isBaseline);
    else this.#continue(account, task.server);
    const elapsedMs = context.atMs - (known?.lastSeenMs ?? lastMs ?? context.atMs);
    this.#takeInput(account, listed, known === undefined, elapsedMs, context);
    this.#takeOutputs(account, listed, known === undefined, elapsedMs, context);
    account.lastSeenMs = context.atMs;
  }

  #start(server: string, isBaseline: boolean): void {
    if (isBaseline) this.baseline.set(server, (this.baseline.get(server) ?? 0) + 1);
    else this.counters.tasksStarted.add(server, 1);
  }

  #continue(account: TaskAccount, server: string): void {
    if (account.server === server) return;
    if (!account.isEndCounted) this.counters.tasksEnded.add(account.server, 1);
    this.counters.tasksStarted.add(server, 1);
    account.server = server;
    account.isEndCounted = false;
  }

  #end(task: WorldTask): void {
    const account = this.#memory.accounts.get(task);
    if (account === undefined || account.isEndCounted) return;
    this.counters.tasksEnded.add(account.server, 1);
    account.isEndCounted = true;
  }

  #takeInput(
    account: TaskAccount,
    { task, total, inputs }: ListedTask,
    isNew: boolean,
    elapsedMs: number,
    context: CommitContext,
  ): void {
    const valid = inputs.filter(({ bytes }) => bytes !== undefined);
    if (total.bytes === undefined && valid.length === 0) return;
    const isFirst = account.source === undefined;
    const isBaseline = isFirst && (context.isBaseline || !isNew);
    let gain: Gain;
    if (total.bytes !== undefined) {
      gain = account.source === 'task' ? measure(account.inputBytes, total.bytes) : NO_GAIN;
      account.accounted += gain.bytes;
      if (account.source !== 'task') gain = takeTotal(account, total.bytes);
      account.source = 'task';
      account.inputBytes = total.bytes;
      this.truth.input += reportTruth(
        task.inputs.map(({ counter }) => counter),
        isBaseline,
      );
    } else {
      const partGain = this.#takeInputParts(account, inputs, context);
      gain = account.source === 'inputs' ? partGain : takeTotal(account, sumBytes(valid));
      account.source = 'inputs';
      if (isBaseline)
        reportTruth(
          valid.map(({ counter }) => counter),
          true,
        );
      else
        this.truth.input += valid.reduce((sum, { counter }) => sum + counter.carried - counter.reported, 0);
      for (const { counter } of valid) counter.reported = counter.carried;
    }
    if (!isBaseline)
      this.#count('input', gain, this.#settings.maxInputBytesPerSecond, elapsedMs, (bytes) =>
        this.counters.inputBytes.add(task.server, bytes),
      );
  }

  /** Updates the accounts of inputs and returns their gain, which counts only if the previous source was `inputs`. */
  #takeInputParts(
    account: TaskAccount,
    inputs: readonly ListedCount[],
    { atMs, forgetBeforeMs }: CommitContext,
  ): Gain {
    forgetParts(account.inputs, forgetBeforeMs);
    const isFollowing = account.source === 'inputs';
    let [sum, resets] = [0, 0];
    for (const { counter, bytes } of inputs) {
      const known = account.inputs.get(counter);
      if (bytes !== undefined) {
        if (known !== undefined && known.bytes === undefined) {
          // The first value of an input that had none is its baseline.
          if (isFollowing) {
            account.accounted += bytes;
            counter.reported = counter.carried;
          }
        } else {
          const gain = measure(known?.bytes ?? 0, bytes);
          sum += gain.bytes;
          resets += gain.resets;
        }
      }
      const lastBytes = bytes ?? known?.bytes;
      account.inputs.set(counter, { bytes: lastBytes, lastSeenMs: atMs, isDeparted: false });
    }
    departParts(account.inputs, inputs, account.lastSeenMs);
    if (isFollowing) account.accounted += sum;
    return { bytes: sum, resets };
  }

  #takeOutputs(
    account: TaskAccount,
    { task, outputs }: ListedTask,
    isNew: boolean,
    elapsedMs: number,
    context: CommitContext,
  ): void {
    forgetParts(account.outputs, context.forgetBeforeMs);
    for (const { counter, bytes, format } of outputs) {
      const known = account.outputs.get(counter);
      const isLate = known !== undefined && known.bytes === undefined;
      if (bytes !== undefined) {
        const isBaseline = context.isBaseline || isLate;
        this.truth.output += reportTruth([counter], isBaseline);
        const partElapsedMs = known?.isDeparted === true ? context.atMs - known.lastSeenMs : elapsedMs;
        if (!isBaseline)
          this.#count(
            'http_output',
            measure(known?.bytes ?? 0, bytes),
            this.#settings.maxOutputBytesPerSecond,
            partElapsedMs,
            (gained) => this.counters.httpOutputBytes.add(`${task.server} ${format}`, gained),
          );
      }
      const part = { bytes: bytes ?? known?.bytes, lastSeenMs: context.atMs, isDeparted: false };
      account.outputs.set(counter, part);
    }
    if (!isNew) departParts(account.outputs, outputs, account.lastSeenMs);
  }

  #count(
    direction: string,
    { bytes, resets }: Gain,
    maxBytesPerSecond: number,
    elapsedMs: number,
    add: (bytes: number) => void,
  ): void {
    this.counters.byteCounterResets.add(direction, resets);
    if (bytes <= (maxBytesPerSecond * Math.max(MIN_ELAPSED_MS, elapsedMs)) / 1000) add(bytes);
    else this.counters.byteCountImplausible.add(direction, 1);
  }
}

/** Returns the tasks of a listing in order, with tasks of the same id directly after the first of them. */
function groupById(listing: readonly ListedTask[]): readonly WorldTask[] {
  const groups = new Map<string, WorldTask[]>();
  for (const { task } of listing) groups.set(task.id, [...(groups.get(task.id) ?? []), task]);
  return [...groups.values()].flat();
}

function createAccount(server: string): TaskAccount {
  return {
    server,
    isEndCounted: false,
    lastSeenMs: 0,
    source: undefined,
    inputBytes: 0,
    accounted: 0,
    inputs: new Map(),
    outputs: new Map(),
  };
}

function measure(previous: number, bytes: number): Gain {
  return bytes >= previous ? { bytes: bytes - previous, resets: 0 } : { bytes, resets: 1 };
}

/** Counts only the part of the total that exceeds the counted bytes. */
function takeTotal(account: TaskAccount, total: number): Gain {
  const bytes = Math.max(0, total - account.accounted);
  account.accounted += bytes;
  return { bytes, resets: 0 };
}

function sumBytes(counts: readonly ListedCount[]): number {
  return counts.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}

/** Marks all carried bytes as reported and returns those that were not reported before; 0 for a baseline. */
function reportTruth(counters: readonly ServiceCounter[], isBaseline: boolean): number {
  let sum = 0;
  for (const counter of counters) {
    sum += counter.carried - counter.reported;
    counter.reported = counter.carried;
  }
  return isBaseline ? 0 : sum;
}

function forgetParts(parts: Parts, forgetBeforeMs: number): void {
  for (const [counter, part] of parts)
    if (part.isDeparted && part.lastSeenMs <= forgetBeforeMs) parts.delete(counter);
}

function departParts(parts: Parts, listed: readonly ListedCount[], lastSeenMs: number): void {
  const counters = new Set(listed.map(({ counter }) => counter));
  for (const [counter, part] of parts) {
    if (part.isDeparted || counters.has(counter)) continue;
    parts.set(counter, { ...part, lastSeenMs, isDeparted: true });
  }
}
