import type { Instant } from '../instant.ts';
import { countDepartedParts, dropDepartedParts, type TaskAccount } from './task-account.ts';

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
   * Notes that the departed parts of a task were `previousCount`, and drops those beyond the maximum, the first to leave
   * first; returns how many.
   */
  updateParts(account: TaskAccount, previousCount: number): number {
    const count = countDepartedParts(account);
    this.#partCount += count - previousCount;
    const excess = Math.min(this.#partCount - this.#maxAccounts, count);
    if (excess <= 0) return 0;
    dropDepartedParts(account, excess);
    this.#partCount -= excess;
    return excess;
  }

  #forget(account: TaskAccount): TaskAccount {
    this.#tasks.delete(account);
    this.#partCount -= countDepartedParts(account);
    return account;
  }
}
