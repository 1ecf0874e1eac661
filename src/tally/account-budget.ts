import type { AccountReservations } from '../listing/listing.ts';
import { MAX_ACCOUNTS } from '../runtime/limits.ts';

/**
 * The accounts of all service codes of the process together: tasks, inputs and outputs, live and departed.
 * When the budget is used up, departed accounts give way, those of the service code with the most first; then
 * no code above its equal part gets further ones. A code below its part does, beyond the limit: with their next
 * listings, those above their parts give up as many.
 */
export class AccountBudget {
  readonly maxAccounts: number;
  readonly #shares = new Set<AccountShare>();
  #total = 0;

  constructor(maxAccounts: number = MAX_ACCOUNTS) {
    this.maxAccounts = maxAccounts;
  }

  add(share: AccountShare): void {
    this.#shares.add(share);
    this.#total += share.size;
  }

  remove(share: AccountShare): void {
    if (this.#shares.delete(share)) this.#total -= share.size;
  }

  get counts(): Readonly<Record<'live' | 'departed', number>> {
    const counts = { live: 0, departed: 0 };
    for (const { live, departed } of this.#shares) {
      counts.live += live;
      counts.departed += departed;
    }
    return counts;
  }

  resize(share: AccountShare, count: number): void {
    if (this.#shares.has(share)) this.#total += count;
  }

  /** Whether a service code can have this many more accounts. Evicts departed ones to make room. */
  makeRoom(share: AccountShare, count: number): boolean {
    while (this.#total + count > this.maxAccounts) {
      // A service code below its equal part gets accounts although others hold more.
      if (this.#findLargestWithDeparted()?.evictOne() !== true) return share.size + count <= this.#equalPart;
    }
    return true;
  }

  /** Evicts departed accounts beyond the limit. Returns how many live ones of a code have to go, too. */
  giveWay(share: AccountShare): number {
    if (this.makeRoom(share, 0)) return 0;
    return Math.min(this.#total - this.maxAccounts, share.size - this.#equalPart);
  }

  get #equalPart(): number {
    return Math.floor(this.maxAccounts / this.#shares.size);
  }

  #findLargestWithDeparted(): AccountShare | undefined {
    let largest: AccountShare | undefined;
    for (const share of this.#shares)
      if (share.departed > 0 && share.size > (largest?.size ?? 0)) largest = share;
    return largest;
  }
}

/** How many accounts a service code has more, or less if negative. */
interface AccountChange {
  readonly live?: number;
  readonly departed?: number;
}

/** The accounts of one service code, and those reserved for tasks of a listing that is being read. */
export class AccountShare implements AccountReservations {
  /** Removes the account of a task that has left, the first to leave first; returns whether there was one. */
  readonly evictOne: () => boolean;
  readonly #budget: AccountBudget;
  #live = 0;
  #departed = 0;
  #reserved = 0;

  constructor(budget: AccountBudget, evictOne: () => boolean) {
    this.#budget = budget;
    this.evictOne = evictOne;
  }

  get live(): number {
    return this.#live;
  }

  get departed(): number {
    return this.#departed;
  }

  get size(): number {
    return this.#departed + Math.max(this.#live, this.#reserved);
  }

  /** Evicts departed accounts while there are too many. Returns how many live ones have to go, too. */
  giveWay(): number {
    return this.#budget.giveWay(this);
  }

  hasRoom({ live }: { readonly live: number }): boolean {
    return this.#hasRoomFor(Math.max(this.#live + live, this.#reserved));
  }

  add({ live = 0, departed = 0 }: AccountChange): void {
    this.#change(live, departed, 0);
  }

  reserve(count: number): boolean {
    if (!this.#hasRoomFor(Math.max(this.#live, this.#reserved + count))) return false;
    this.#change(0, 0, count);
    return true;
  }

  release(count: number): void {
    this.#change(0, 0, -count);
  }

  /** Whether there is room for so many accounts besides the departed ones. */
  #hasRoomFor(count: number): boolean {
    const added = this.#departed + count - this.size;
    return added <= 0 || this.#budget.makeRoom(this, added);
  }

  #change(live: number, departed: number, reserved: number): void {
    const { size } = this;
    this.#live += live;
    this.#departed += departed;
    this.#reserved += reserved;
    this.#budget.resize(this, this.size - size);
  }
}
