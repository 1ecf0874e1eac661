import { AccountShare, type AccountBudget } from '../account-budget.ts';
import {
  addLastSeen,
  countAccounts,
  countDepartedParts,
  keepDepartedParts,
  type TaskAccount,
} from './task-account.ts';

/** How long accounts of tasks that left are kept; the longest time between processes that counts as known. */
export const REMEMBERED_MS = 6 * 60 * 60 * 1000;

/** So many departed parts of one task are kept; of a task that lists more parts, as many as it lists. */
const MIN_KEPT_PARTS = 4;

/** The accounts of tasks that left, in the order in which they left, and of parts that left live tasks. */
export class DepartedAccounts {
  readonly #tasks = new Set<TaskAccount>();
  /** Live tasks with accounts of parts that left them, and how many. */
  readonly #departedParts = new Map<TaskAccount, number>();
  readonly #onForget: (account: TaskAccount) => void;
  /** Of the tasks that left, see {@link addLastSeen}: walking over all for each write would take long. */
  #lastSeenSum = 0;
  /** All accounts of the service code. */
  readonly share: AccountShare;

  /** `onForget` is called with each task that is forgotten, at any time: other codes need accounts, too. */
  constructor(budget: AccountBudget, onForget: (account: TaskAccount) => void) {
    this.#onForget = onForget;
    this.share = new AccountShare(budget, () => this.#evict());
  }

  get tasks(): Iterable<TaskAccount> {
    return this.#tasks;
  }

  get lastSeenSum(): number {
    return this.#lastSeenSum;
  }

  /** Counts the accounts of a live task, which had so many live ones before, and limits the departed ones. */
  updateCount(account: TaskAccount, liveBefore: number): void {
    const listed = countAccounts(account);
    keepDepartedParts(account, Math.max(MIN_KEPT_PARTS, listed));
    const live = listed - liveBefore;
    const departed = this.#followParts(account);
    if (live !== 0 || departed !== 0) this.share.add({ live, departed });
  }

  add(account: TaskAccount): void {
    const live = countAccounts(account);
    this.#tasks.add(account);
    this.#lastSeenSum = addLastSeen(this.#lastSeenSum, account);
    this.#departedParts.delete(account);
    this.share.add({ live: -live, departed: live });
  }

  takeBack(account: TaskAccount): void {
    const live = countAccounts(account);
    this.#remove(account);
    this.#followParts(account);
    this.share.add({ live, departed: -live });
  }

  *listExpired(forgetBeforeMs: number): Generator<TaskAccount, void> {
    for (const account of this.#tasks) {
      if (account.lastSeen.monotonicMs > forgetBeforeMs) return;
      yield account;
    }
  }

  forget(account: TaskAccount): void {
    this.#remove(account);
    this.share.add({ departed: -countAccounts(account) - countDepartedParts(account) });
    this.#onForget(account);
  }

  #remove(account: TaskAccount): void {
    this.#tasks.delete(account);
    this.#lastSeenSum = addLastSeen(this.#lastSeenSum, account, -1);
  }

  /** Returns how many more parts have left a live task. */
  #followParts(account: TaskAccount): number {
    const before = this.#departedParts.get(account) ?? 0;
    const departed = countDepartedParts(account);
    if (departed > 0) this.#departedParts.set(account, departed);
    else if (before > 0) this.#departedParts.delete(account);
    return departed - before;
  }

  /**
   * Parts go first: a task that returns has more to lose. V8 walks over deleted entries to find the first one
   * of a Set, so one iterator serves a whole run. A kept one would hold each table that the Set has left.
   */
  *#evict(): Generator<void, void> {
    for (const account of this.#departedParts.keys()) {
      this.#dropParts(account);
      yield;
    }
    for (const account of this.#tasks) {
      this.forget(account);
      yield;
    }
  }

  #dropParts(account: TaskAccount): void {
    keepDepartedParts(account, 0);
    this.share.add({ departed: this.#followParts(account) });
  }
}
