import { MAX_ACCOUNTS } from '../runtime/limits.ts';

/** Removes the account of a task that has left, the first to leave first; returns whether there was one. */
type EvictOne = () => boolean;

/**
 * The accounts of all service codes of the process together: tasks, inputs and outputs, live and departed. When the budget
 * is used up, the service code with the most loses its departed accounts first; then it gets no further ones.
 */
export class AccountBudget {
  readonly #maxAccounts: number;
  readonly #shares = new Set<AccountShare>();
  /** The accounts of all shares. */
  #total = 0;

  constructor(maxAccounts: number = MAX_ACCOUNTS) {
    this.#maxAccounts = maxAccounts;
  }

  /** Adds the accounts of a service code that is polled. */
  add(share: AccountShare): void {
    this.#shares.add(share);
    this.#total += share.size;
  }

  /** Returns the accounts of a service code that is no longer polled. */
  remove(share: AccountShare): void {
    if (this.#shares.delete(share)) this.#total -= share.size;
  }

  /** Notes that a service code has this many more accounts. */
  resize(share: AccountShare, count: number): void {
    if (this.#shares.has(share)) this.#total += count;
  }

  /** Whether a service code can have this many more accounts. Evicts departed ones to make room. */
  makeRoom(share: AccountShare, count: number): boolean {
    while (this.#total + count > this.#maxAccounts) {
      const largest = this.#findLargest(share, count);
      // A service code below its equal part gets accounts although another one holds more.
      if (!largest.evictOne())
        return largest !== share && share.size + count <= this.#maxAccounts / this.#shares.size;
    }
    return true;
  }

  /** The service code with the most accounts, if one had this many more. */
  #findLargest(share: AccountShare, count: number): AccountShare {
    let largest = share;
    let most = share.size + count;
    for (const other of this.#shares)
      if (other.size > most) {
        largest = other;
        most = other.size;
      }
    return largest;
  }
}

/** The accounts of one service code. A task of a listing that is being read needs as much memory as its account. */
export class AccountShare {
  readonly evictOne: EvictOne;
  readonly #budget: AccountBudget;
  #live = 0;
  #departed = 0;
  #reading = 0;

  constructor(budget: AccountBudget, evictOne: EvictOne) {
    this.#budget = budget;
    this.evictOne = evictOne;
  }

  get size(): number {
    return this.#departed + Math.max(this.#live, this.#reading);
  }

  /** Reserves the accounts of a task that is being read; false if there is no room. */
  reserveReading(count: number): boolean {
    const added = Math.max(0, this.#reading + count - Math.max(this.#live, this.#reading));
    if (added > 0 && !this.#budget.makeRoom(this, added)) return false;
    this.#add({ reading: count });
    return true;
  }

  releaseReading(count: number): void {
    this.#add({ reading: -count });
  }

  /** Whether a task can have this many more accounts. */
  canAdd(count: number): boolean {
    const added = Math.max(0, this.#live + count - Math.max(this.#live, this.#reading));
    return added === 0 || this.#budget.makeRoom(this, added);
  }

  addLive(count: number): void {
    this.#add({ live: count });
  }

  /** Notes that a task has left, or, with a negative count, that it is back. */
  depart(count: number): void {
    this.#add({ live: -count, departed: count });
  }

  removeDeparted(count: number): void {
    this.#add({ departed: -count });
  }

  #add({ live = 0, departed = 0, reading = 0 }): void {
    const { size } = this;
    this.#live += live;
    this.#departed += departed;
    this.#reading += reading;
    this.#budget.resize(this, this.size - size);
  }
}
