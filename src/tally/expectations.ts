import type { TaskReading } from '../listing/listing.ts';
import type { ExpectedCounters } from './expected-counters.ts';
import type { Instant } from './instant.ts';
import type { Ledger } from './ledger/ledger.ts';
import { hasFlag, TaskFlag, type TaskAccount } from './ledger/task-account.ts';

/** What must run of a service code (docs/service-codes.md). */
export interface Expectation {
  /** Number of live tasks; at least the number of names. */
  readonly tasks: number;
  /** Names of tasks as label values, each once. */
  readonly names: readonly string[];
  /** What tasks of some of the names must reach. */
  readonly minima?: readonly ExpectedMinima[];
}

/** What tasks of a name must reach, each if it is set. */
export interface ExpectedMinima {
  readonly name: string;
  readonly inputBytesPerSecond?: number | undefined;
  readonly outputs?: number | undefined;
}

/**
 * `up`: a live task of the name has received input, or reports none, and is not stalled; `missing`: no live
 * task has the name; `unknown`: there is no recent listing.
 */
type ExpectedTaskCondition = 'up' | 'stalled' | 'without_input' | 'missing' | 'unknown';

/** An expected name. If several tasks have it, the best one counts. */
export interface ExpectedTask {
  readonly name: string;
  readonly condition: ExpectedTaskCondition;
  /** The largest number of outputs of a task with the name; `undefined` if none is listed. */
  readonly outputs: number | undefined;
  /** Byte counts of its tasks that wait; `undefined` before the first one. */
  readonly waiting?: number | undefined;
  /**
   * Since when, in milliseconds since the Unix epoch: when it became up, its input flowed last, a task
   * without input was first seen, or the last listing that had it. `undefined` if no listing had it since
   * the start, and if that is unknown.
   */
  readonly sinceMs: number | undefined;
}

/** The best first. */
const LISTED_CONDITIONS = ['up', 'stalled', 'without_input', 'missing'] as const;

/** What has counted the tasks of a listing. */
interface Counting {
  readonly ledger: Pick<Ledger, 'getTask'>;
  readonly expectedCounters: Pick<ExpectedCounters, 'get'>;
}

/** Follows the tasks of one service code that an expectation names. */
export class ExpectedTasks {
  /** Takes effect with the next listing. */
  expectation: Expectation | undefined;
  #last: readonly ExpectedTask[] = [];
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
    const last = new Map(this.#last.map((task) => [task.name, task]));
    this.#last = [...tasksByName].map(([name, namesakes]) => {
      const accounts = namesakes.map((task) => ledger.getTask(task.id));
      const conditions = namesakes.map((task, index) => toCondition(task, accounts[index]));
      const condition = LISTED_CONDITIONS.find((one) => conditions.includes(one)) ?? 'missing';
      const ofCondition = accounts.flatMap((account, index) =>
        account !== undefined && conditions[index] === condition ? [account] : [],
      );
      return {
        name,
        condition,
        outputs: namesakes.map(({ outputs }) => outputs.length).toSorted((a, b) => b - a)[0],
        waiting: expectedCounters.get(name)?.waiting,
        sinceMs: this.#findSince(condition, ofCondition, last.get(name), at),
      };
    });
    this.#lastMs = at.wallMs;
    return this.#last;
  }

  #findSince(
    condition: ExpectedTaskCondition,
    accounts: readonly TaskAccount[],
    before: ExpectedTask | undefined,
    at: Instant,
  ): number | undefined {
    if (condition === 'stalled') return Math.max(...accounts.map(({ lastActivity }) => lastActivity.wallMs));
    if (condition === 'without_input') return Math.min(...accounts.map(({ firstSeen }) => firstSeen.wallMs));
    if (before?.condition === condition) return before.sinceMs;
    if (condition === 'up') return at.wallMs;
    return before && this.#lastMs;
  }
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

/**
 * The expected names with the tasks of the last good listing. A name that is in no listing yet, or of which
 * none is recent, is unknown.
 */
export function listExpectedTasks(
  expectation: Expectation | undefined,
  recent: readonly ExpectedTask[] | undefined,
): readonly ExpectedTask[] {
  const found = new Map(recent?.map((task) => [task.name, task]));
  return (expectation?.names ?? []).map(
    (name) => found.get(name) ?? { name, condition: 'unknown', outputs: undefined, sinceMs: undefined },
  );
}
