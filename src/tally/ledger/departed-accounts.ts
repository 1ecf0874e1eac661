import type { Instant } from '../instant.ts';
import type { TaskAccount } from './task-account.ts';
import { NUMBERS_PER_DEPARTED_PART } from './part-accounts.ts';

/** The accounts of tasks that left, in the order in which they left, and a count of the departed parts of all tasks. */
export class DepartedAccounts {
  readonly #rememberMs: number;
  readonly #maxAccounts: number;
  readonly #tasks = new Set<TaskAccount>();
  #partCount = 0;

  constructor(rememberMs: number, maxAccounts: number) {
    this.#rememberMs = rememberMs;
    this.#maxAccounts = maxAccounts;
  }

  /** Departed accounts that were last seen by then, in monotonic milliseconds, are forgotten. */
  computeForgetBeforeMs(at: Instant): number {
    return at.monotonicMs - this.#rememberMs;
  }

  add(account: TaskAccount): void {
    this.#tasks.add(account);
  }

  /** Removes the account of a task that is back. */
  delete(account: TaskAccount): void {
    this.#tasks.delete(account);
  }

  /** The tasks that left, the first to leave first. */
  get tasks(): Iterable<TaskAccount> {
    return this.#tasks;
  }

  /** Removes and returns the accounts of tasks that have been away for too long. */
  *expire(at: Instant): Generator<TaskAccount, void> {
    const forgetBeforeMs = this.computeForgetBeforeMs(at);
    for (const account of this.#tasks) {
      if (account.lastSeen.monotonicMs > forgetBeforeMs) return;
      yield this.#forget(account);
    }
  }

  /** Removes and returns the accounts of tasks beyond the maximum, the first to leave first. */
  *evict(): Generator<TaskAccount, void> {
    for (const account of this.#tasks) {
      if (this.#tasks.size + this.#partCount <= this.#maxAccounts) return;
      yield this.#forget(account);
    }
  }

  /**
   * Notes that the departed parts of a task changed in number, and shortens the lists beyond the maximum, the first to
   * leave first; returns how many parts were evicted.
   */
  updateParts(lists: readonly number[][], previousCount: number): number {
    let count = countParts(lists);
    this.#partCount += count - previousCount;
    const before = count;
    for (const list of lists) {
      const excess = Math.min(this.#partCount - this.#maxAccounts, list.length / NUMBERS_PER_DEPARTED_PART);
      if (excess <= 0) continue;
      list.splice(0, excess * NUMBERS_PER_DEPARTED_PART);
      this.#partCount -= excess;
      count -= excess;
    }
    return before - count;
  }

  #forget(account: TaskAccount): TaskAccount {
    this.#tasks.delete(account);
    this.#partCount -= countDepartedParts(account);
    return account;
  }
}

/** The number of departed parts of a task. */
export function countDepartedParts({ rare }: TaskAccount): number {
  return rare === undefined ? 0 : countParts([rare.departedInputs, rare.departedOutputs]);
}

function countParts(lists: readonly (readonly number[])[]): number {
  return lists.reduce((sum, { length }) => sum + length / NUMBERS_PER_DEPARTED_PART, 0);
}
