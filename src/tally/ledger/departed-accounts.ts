import { AccountShare, type AccountBudget } from '../account-budget.ts';
import type { Instant } from '../instant.ts';
import { countAccounts, dropDepartedParts, type TaskAccount } from './task-account.ts';

/** What identifies a task. */
export type TaskKey = Pick<TaskAccount, 'id' | 'vsId'>;

/** The accounts of tasks that left, in the order in which they left. */
export class DepartedAccounts {
  readonly #rememberMs: number;
  readonly #tasks = new Set<TaskAccount>();
  readonly #onForget: (account: TaskAccount) => void;
  /** All accounts of the service code. */
  readonly share: AccountShare;
  /** Tasks that were evicted since the last commit began, at any time: other service codes need room, too. */
  #evicted: TaskKey[] = [];
  #evictedCount = 0;

  /** `onForget` is called with each account that is forgotten. */
  constructor(rememberMs: number, budget: AccountBudget, onForget: (account: TaskAccount) => void) {
    this.#rememberMs = rememberMs;
    this.#onForget = onForget;
    this.share = new AccountShare(budget, () => this.#evictFirst());
  }

  get evicted(): readonly TaskKey[] {
    return this.#evicted;
  }

  /** Returns the evicted tasks, and begins to note others. */
  takeEvicted(): TaskKey[] {
    const evicted = this.#evicted;
    this.#evicted = [];
    return evicted;
  }

  /** Returns how many tasks and parts were evicted since the last call. */
  takeEvictedCount(): number {
    const count = this.#evictedCount;
    this.#evictedCount = 0;
    return count;
  }

  /** Counts the accounts of a live task, and drops those of parts that left it if there is no room. */
  updateCount(account: TaskAccount, lastCount: number): void {
    const addedCount = countAccounts(account) - lastCount;
    if (addedCount > 0 && !this.share.canAdd(addedCount)) this.#evictedCount += dropDepartedParts(account);
    this.share.addLive(countAccounts(account) - lastCount);
  }

  /** Departed accounts that were last seen by then, in monotonic milliseconds, are forgotten. */
  computeForgetBeforeMs(at: Instant): number {
    return at.monotonicMs - this.#rememberMs;
  }

  add(account: TaskAccount): void {
    this.#tasks.add(account);
    this.share.depart(countAccounts(account));
  }

  /** Removes the account of a task that is back. */
  takeBack(account: TaskAccount): void {
    this.#tasks.delete(account);
    this.share.depart(-countAccounts(account));
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
      this.forget(account);
      yield account;
    }
  }

  #evictFirst(): boolean {
    for (const account of this.#tasks) {
      this.forget(account);
      this.#evicted.push(account);
      this.#evictedCount += 1;
      return true;
    }
    return false;
  }

  forget(account: TaskAccount): void {
    this.#tasks.delete(account);
    this.share.removeDeparted(countAccounts(account));
    this.#onForget(account);
  }
}
