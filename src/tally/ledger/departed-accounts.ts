import { AccountShare, type AccountBudget } from '../account-budget.ts';
import { countAccounts, dropDepartedParts, type TaskAccount } from './task-account.ts';

/** How long accounts of tasks that left are kept; the longest time between processes that is believed. */
export const REMEMBERED_MS = 6 * 60 * 60 * 1000;

/** The accounts of tasks that left, in the order in which they left. */
export class DepartedAccounts {
  readonly #tasks = new Set<TaskAccount>();
  readonly #onForget: (account: TaskAccount) => void;
  /** All accounts of the service code. */
  readonly share: AccountShare;

  /** `onForget` is called with each account that is forgotten, at any time: other codes need room, too. */
  constructor(budget: AccountBudget, onForget: (account: TaskAccount) => void) {
    this.#onForget = onForget;
    this.share = new AccountShare(budget, () => this.#evictFirst());
  }

  get tasks(): Iterable<TaskAccount> {
    return this.#tasks;
  }

  /** Counts the accounts of a live task, and drops those of parts that left it if there is no room. */
  updateCount(account: TaskAccount, lastCount: number): void {
    if (!this.share.hasRoom({ live: countAccounts(account) - lastCount })) dropDepartedParts(account);
    this.share.add({ live: countAccounts(account) - lastCount });
  }

  /** Drops the accounts of parts that left a live task; returns how many. */
  dropParts(account: TaskAccount): number {
    const count = dropDepartedParts(account);
    this.share.add({ live: -count });
    return count;
  }

  add(account: TaskAccount): void {
    const count = countAccounts(account);
    this.#tasks.add(account);
    this.share.add({ live: -count, departed: count });
  }

  takeBack(account: TaskAccount): void {
    const count = countAccounts(account);
    this.#tasks.delete(account);
    this.share.add({ live: count, departed: -count });
  }

  *listExpired(forgetBeforeMs: number): Generator<TaskAccount, void> {
    for (const account of this.#tasks) {
      if (account.lastSeen.monotonicMs > forgetBeforeMs) return;
      yield account;
    }
  }

  forget(account: TaskAccount): void {
    this.#tasks.delete(account);
    this.share.add({ departed: -countAccounts(account) });
    this.#onForget(account);
  }

  #evictFirst(): boolean {
    const [first] = this.#tasks;
    if (first === undefined) return false;
    this.forget(first);
    return true;
  }
}
