import { z } from 'zod';
import type { TaskReading } from '../listing/listing.ts';
import type { ExpectedCounters } from './expected-counters.ts';
import type { Instant } from '../runtime/instant.ts';
import type { Ledger } from './ledger/ledger.ts';
import { hasFlag, TaskFlag, type TaskAccount } from './ledger/task-account.ts';

/** What must run of a service code (docs/service-codes.md). */
export interface Expectation {
  /** Number of live tasks; at least the number of names. */
  readonly tasks: number;
  /** Names of tasks as label values, each once. */
  readonly names: readonly string[];
  readonly minima?: readonly ExpectedMinima[];
}

/** What tasks of a name must reach, each if it is set. */
export interface ExpectedMinima {
  readonly name: string;
  readonly inputBytesPerSecond?: number | undefined;
  readonly outputs?: number | undefined;
}

/** `up`: has input or reports none, not stalled; `missing`: no live task; `unknown`: no recent listing. */
type ExpectedTaskCondition = 'up' | 'stalled' | 'without_input' | 'missing' | 'unknown';

/** As words: `without input`. */
export function formatTaskCondition(condition: ExpectedTaskCondition | 'slow'): string {
  return condition.replace('_', ' ');
}

/** An expected name. If several tasks have it, the best one counts. */
export interface ExpectedTask {
  readonly name: string;
  readonly condition: ExpectedTaskCondition;
  /** The largest number of outputs of a task with the name; `undefined` if none is listed. */
  readonly outputs: number | undefined;
  readonly minima?: ExpectedMinima | undefined;
  /**
   * Mean of the last two minutes, or listings, in bytes per second; needs two, and a total above 0.
   * `undefined` unless it is up, and has been in the whole window if it was not before.
   */
  readonly inputRate?: number | undefined;
  readonly connections?: number | undefined;
  /** Since when it is up and its rate is below the minimum. */
  readonly slowSinceMs?: number | undefined;
  /** Outputs that it must have: the minimum or, without one, the largest number of the last hour. */
  readonly dueOutputs?: number | undefined;
  /** How many outputs it must have, and since when it has fewer. */
  readonly fewerOutputs?: { readonly than: number; readonly sinceMs: number } | undefined;
  /** Byte counts of its tasks that wait; `undefined` before the first one. */
  readonly waiting?: number | undefined;
  /**
   * In milliseconds since the Unix epoch: when it became up, its input last flowed, a task without input
   * was first seen, or it was last listed. `undefined` if unknown, or if not listed since the start.
   */
  readonly sinceMs: number | undefined;
}

/** Input bytes of a name at a monotonic time. */
interface InputTotal {
  readonly ms: number;
  readonly bytes: number;
}

/** What is remembered of an expected name from listing to listing. */
interface NameHistory {
  /** The totals since the name is up, from which its rate is computed. */
  readonly totals: readonly InputTotal[];
  /** Whether it was not up before `totals`. */
  readonly hasRecovered: boolean;
  /** The numbers of outputs of the last hour, each larger than all later ones. */
  readonly outputCounts: readonly OutputCount[];
  readonly task: ExpectedTask;
}

/** A number of outputs, and when a listing last had it. */
const outputCountSchema = z.object({ ms: z.number(), count: z.number() }).readonly();
type OutputCount = z.output<typeof outputCountSchema>;

/** The largest number of outputs of the last hour by name, as it is in the record of a service code. */
export const mostOutputsSchema = z.array(z.tuple([z.string(), outputCountSchema]).readonly()).readonly();

const RATE_MS = 2 * 60 * 1000;
/** A stream that has had fewer outputs for so long has been changed. */
const OUTPUTS_MS = 60 * 60 * 1000;

/** The best first. */
const LISTED_CONDITIONS = ['up', 'stalled', 'without_input', 'missing'] as const;

interface Counting {
  readonly ledger: Pick<Ledger, 'getTask'>;
  readonly expectedCounters: Pick<ExpectedCounters, 'get'>;
}

/** Follows the tasks of one service code that an expectation names. */
export class ExpectedTasks {
  /** Takes effect with the next listing. */
  expectation: Expectation | undefined;
  #histories = new Map<string, NameHistory>();
  /** The largest numbers of outputs that an earlier process has seen, until the first listing. */
  #restoredOutputs: ReadonlyMap<string, OutputCount> = new Map();
  /** The time of the last listing, in wall-clock milliseconds. */
  #lastMs: number | undefined;

  get names(): readonly string[] {
    return this.expectation?.names ?? [];
  }

  /** Finds the tasks of a good listing, after the ledger has taken the same readings. */
  commit(
    tasks: Iterable<TaskReading>,
    { ledger, expectedCounters }: Counting,
    at: Instant,
  ): readonly ExpectedTask[] {
    const { names } = this;
    const tasksByName = new Map(names.map((name): [string, TaskReading[]] => [name, []]));
    if (names.length > 0)
      for (const task of tasks) if (task.name !== undefined) tasksByName.get(task.name)?.push(task);
    const minima = new Map(this.expectation?.minima?.map((minimum) => [minimum.name, minimum]));
    const histories = [...tasksByName].map(([name, namesakes]): [string, NameHistory] => {
      const accounts = namesakes.map((task) => ledger.getTask(task.id));
      const conditions = namesakes.map((task, index) => toCondition(task, accounts[index]));
      const condition = LISTED_CONDITIONS.find((one) => conditions.includes(one)) ?? 'missing';
      const ofCondition = accounts.flatMap((account, index) =>
        account !== undefined && conditions[index] === condition ? [account] : [],
      );
      const before = this.#histories.get(name);
      const task: ExpectedTask = {
        name,
        condition,
        outputs: namesakes.map(({ outputs }) => outputs.length).toSorted((a, b) => b - a)[0],
        connections: namesakes.reduce((sum, { connections }) => sum + connections, 0),
        waiting: expectedCounters.get(name)?.waiting,
        minima: minima.get(name),
        sinceMs: this.#findSince(condition, ofCondition, before?.task, at),
      };
      const restored = this.#restoredOutputs.get(name);
      const outputCounts = before?.outputCounts ?? (restored === undefined ? [] : [restored]);
      return [name, follow(task, outputCounts, before, expectedCounters.get(name)?.inputBytes, at)];
    });
    this.#histories = new Map(histories);
    this.#restoredOutputs = new Map();
    this.#lastMs = at.wallMs;
    return histories.map(([, { task }]) => task);
  }

  get mostOutputs(): z.output<typeof mostOutputsSchema> {
    return [...this.#histories].flatMap(
      ([
        name,
        {
          outputCounts: [most],
        },
      ]) => (most ? [[name, most]] : []),
    );
  }

  restore(mostOutputs: z.output<typeof mostOutputsSchema>): void {
    this.#restoredOutputs = new Map(mostOutputs);
  }

  #findSince(
    condition: ExpectedTaskCondition,
    accounts: readonly TaskAccount[],
    before: ExpectedTask | undefined,
    at: Instant,
  ): number | undefined {
    if (condition === 'stalled')
      return accounts.reduce((lastMs, { lastActivity }) => Math.max(lastMs, lastActivity.wallMs), -Infinity);
    if (condition === 'without_input')
      return accounts.reduce((firstMs, { firstSeen }) => Math.min(firstMs, firstSeen.wallMs), Infinity);
    if (before?.condition === condition) return before.sinceMs;
    if (condition === 'up') return at.wallMs;
    return before && this.#lastMs;
  }
}

/** Adds what is known only from several listings: the rate, and what the name lacks. */
function follow(
  listed: ExpectedTask,
  countsBefore: readonly OutputCount[],
  before: NameHistory | undefined,
  bytes: number | undefined,
  { wallMs, monotonicMs: ms }: Instant,
): NameHistory {
  const isUp = listed.condition === 'up';
  const totals = isUp && bytes !== undefined ? addTotal(before?.totals ?? [], { ms, bytes }) : [];
  const [oldest = { ms }] = totals;
  const hasRecovered = (before?.hasRecovered ?? !isUp) || !isUp;
  const isWindowWhole = ms - oldest.ms >= RATE_MS;
  const outputCounts = addOutputCount(countsBefore, ms, listed.outputs);
  const task = {
    ...listed,
    inputRate: hasRecovered && !isWindowWhole ? undefined : computeRate(totals),
    dueOutputs: listed.minima?.outputs ?? outputCounts[0]?.count,
  };
  return {
    totals,
    hasRecovered: hasRecovered && !isWindowWhole,
    outputCounts,
    task: { ...task, ...findShortfalls(task, before?.task, wallMs) },
  };
}

/** `count` is `undefined` while no task of the name is listed. */
function addOutputCount(
  before: readonly OutputCount[],
  ms: number,
  count: number | undefined,
): readonly OutputCount[] {
  const recent = before.filter((one) => ms - one.ms <= OUTPUTS_MS && one.count > (count ?? 0));
  return count === undefined || count === 0 ? recent : [...recent, { ms, count }];
}

/** Keeps the totals of the last two minutes, or of two listings that are further apart. */
function addTotal(before: readonly InputTotal[], latest: InputTotal): readonly InputTotal[] {
  const first = before.findLastIndex(({ ms }) => latest.ms - ms >= RATE_MS);
  return [...before.slice(Math.max(0, first)), latest];
}

function computeRate(totals: readonly InputTotal[]): number | undefined {
  const [oldest] = totals;
  const latest = totals.at(-1);
  if (oldest === undefined || latest === undefined || oldest.ms === latest.ms || latest.bytes === 0)
    return undefined;
  return ((latest.bytes - oldest.bytes) * 1000) / (latest.ms - oldest.ms);
}

function findShortfalls(
  { condition, minima, inputRate = Infinity, outputs = 0, dueOutputs: than = 0, waiting = 0 }: ExpectedTask,
  before: ExpectedTask | undefined,
  nowMs: number,
): Pick<ExpectedTask, 'slowSinceMs' | 'fewerOutputs'> {
  const isSlow = condition === 'up' && waiting === 0 && inputRate < (minima?.inputBytesPerSecond ?? 0);
  const isShort = condition !== 'missing' && outputs < than;
  return {
    slowSinceMs: isSlow ? (before?.slowSinceMs ?? nowMs) : undefined,
    fewerOutputs: isShort ? { than, sinceMs: before?.fewerOutputs?.sinceMs ?? nowMs } : undefined,
  };
}

function toCondition(
  { progress = 0 }: TaskReading,
  account: TaskAccount | undefined,
): (typeof LISTED_CONDITIONS)[number] {
  if (account === undefined || progress > 0) return 'missing';
  if (hasFlag(account, TaskFlag.isStalled)) return 'stalled';
  const hasInput = hasFlag(account, TaskFlag.hasFlowed) || !hasFlag(account, TaskFlag.reportsInput);
  return hasInput ? 'up' : 'without_input';
}

/** The expected names with the tasks of the last good listing; without a recent one, a name is unknown. */
export function listExpectedTasks(
  expectation: Expectation | undefined,
  recent: readonly ExpectedTask[] | undefined,
): readonly ExpectedTask[] {
  const found = new Map(recent?.map((task) => [task.name, task]));
  return (expectation?.names ?? []).map(
    (name) => found.get(name) ?? { name, condition: 'unknown', outputs: undefined, sinceMs: undefined },
  );
}

/**
 * Counts the expected tasks. A higher number that a reload has set is not compared with the last good
 * listing, which is of before it.
 */
export function countExpectedTasks(expectation: Expectation | undefined, listed = Infinity): number {
  return Math.min(expectation?.tasks ?? 0, listed);
}
