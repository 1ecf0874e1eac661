import type { AccountReservations } from '../listing/listing.ts';

/**
 * The accounts of all service codes of the process together: tasks, inputs and outputs, live and departed.
 * Departed accounts fill what live ones leave of the budget. They are evicted after a commit, those of the
 * service code with the most first: by then, tasks and parts that are listed again have found theirs. Where
 * live ones use up the budget, no code above its equal part gets further ones. A code below its part does,
 * beyond the limit: with their next listings, those above their parts lose as many.
 */
export class AccountBudget {
  readonly maxAccounts: number;
  readonly #shares = new Set<AccountShare>();
  #size = 0;
  #needed = 0;

  constructor(maxAccounts: number) {
    this.maxAccounts = maxAccounts;
  }

  add(share: AccountShare): void {
    this.#shares.add(share);
    this.resize(share, share.size, share.needed);
  }

  remove(share: AccountShare): void {
    this.resize(share, -share.size, -share.needed);
    this.#shares.delete(share);
  }

  get counts(): Readonly<Record<'live' | 'departed', number>> {
    const counts = { live: 0, departed: 0 };
    for (const { live, departed } of this.#shares) {
      counts.live += live;
      counts.departed += departed;
    }
    return counts;
  }

  resize(share: AccountShare, size: number, needed: number): void {
    if (!this.#shares.has(share)) return;
    this.#size += size;
    this.#needed += needed;
  }

  /** Whether a service code can have this many more live accounts; departed ones do not count. */
  canAdd(share: AccountShare, count: number): boolean {
    // A service code below its equal part gets accounts although others hold more.
    return this.#needed + count <= this.maxAccounts || share.needed + count <= this.#equalPart;
  }

  /** How many live accounts of a service code others need. */
  countExcess(share: AccountShare): number {
    return Math.max(0, Math.min(this.#needed - this.maxAccounts, share.needed - this.#equalPart));
  }

  /** Evicts departed accounts beyond the limit. */
  evictExcess(): void {
    const evictions = new Map<AccountShare, Iterator<void, void>>();
    while (this.#size > this.maxAccounts) {
      const largest = this.#findLargestWithDeparted();
      if (largest === undefined) return;
      const eviction = evictions.get(largest) ?? largest.evict();
      evictions.set(largest, eviction);
      if (eviction.next().done === true) return;
    }
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
  /** Removes the departed accounts of one task, live or not, at each step. */
  readonly evict: () => Iterator<void, void>;
  readonly #budget: AccountBudget;
  #live = 0;
  #departed = 0;
  #reserved = 0;

  constructor(budget: AccountBudget, evict: () => Iterator<void, void>) {
    this.#budget = budget;
    this.evict = evict;
  }

  get live(): number {
    return this.#live;
  }

  get departed(): number {
    return this.#departed;
  }

  get size(): number {
    return this.#live + this.#departed;
  }

  /** Live accounts, or those of the listing that is being read if they are more. */
  get needed(): number {
    return Math.max(this.#live, this.#reserved);
  }

  /** How many live accounts others need. */
  get excess(): number {
    return this.#budget.countExcess(this);
  }

  /** Evicts departed accounts, also of other service codes, while there are too many. */
  evictExcess(): void {
    this.#budget.evictExcess();
  }

  /** Whether the budget allows so many more live accounts. */
  canAdd(live: number): boolean {
    return this.#isWithinBudget(Math.max(this.#live + live, this.#reserved));
  }

  add({ live = 0, departed = 0 }: AccountChange): void {
    this.#change(live, departed, 0);
  }

  /** Evicts nothing: the listing may fail, or have tasks whose accounts have departed. */
  reserve(count: number): boolean {
    if (!this.#isWithinBudget(Math.max(this.#live, this.#reserved + count))) return false;
    this.#change(0, 0, count);
    return true;
  }

  release(count: number): void {
    this.#change(0, 0, -count);
  }

  #isWithinBudget(needed: number): boolean {
    const added = needed - this.needed;
    return added <= 0 || this.#budget.canAdd(this, added);
  }

  #change(live: number, departed: number, reserved: number): void {
    const { size, needed } = this;
    this.#live += live;
    this.#departed += departed;
    this.#reserved += reserved;
    this.#budget.resize(this, this.size - size, this.needed - needed);
  }
}
