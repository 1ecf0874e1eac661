import { createHmac, randomBytes } from 'node:crypto';
import { ClientGroups } from '../client-groups.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** A request that waits for a password check. */
export interface VerificationRequest {
  /** Address or network of the client. */
  readonly client: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
}

/** `busy`: the password was not compared, because the queue is full or every client has disconnected. */
export type VerificationResult = 'valid' | 'invalid' | 'busy';

/** Compares a password with a bcrypt hash. */
export type ComparePassword = (password: string, hash: string) => Promise<boolean>;

/** More than there are users, so that a changed password fits too. */
const MAX_CACHED_VALID = 128;
/** Cached apart from the valid ones, so that guesses cannot evict them. */
const MAX_CACHED_INVALID = 1024;
/** Requests with the same password that wait for its comparison. */
const MAX_REQUESTS_PER_COMPARISON = 64;

/** Salt and hash for users that do not exist. */
const DUMMY_SALT_AND_HASH = 'QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

/** A request that waits for a comparison. */
interface Waiter {
  readonly signal: AbortSignal;
  readonly resolve: (result: VerificationResult) => void;
  readonly reject: (error: unknown) => void;
}

/** A comparison that waits or runs. */
interface Comparison {
  readonly digest: string;
  readonly client: string;
  readonly password: string;
  readonly hash: string;
  readonly isExistingUser: boolean;
  readonly waiters: Waiter[];
}

/**
 * Verifies passwords, one comparison at a time. It caches results as keyed digests of user, hash and password, so that
 * bcrypt does not slow down each scrape and a new hash in the configuration is compared again. Users that do not exist
 * take as long as the user with the cheapest hash.
 *
 * Clients take turns, and users that exist go before users that do not. If the queue is full, the newest comparison of
 * the client that has the most gives way, first of users that do not exist.
 */
export class PasswordVerifier {
  readonly #maxPending: number;
  readonly #compare: ComparePassword;
  readonly #digestKey = randomBytes(32);
  readonly #validDigests = new LruSet(MAX_CACHED_VALID);
  readonly #invalidDigests = new LruSet(MAX_CACHED_INVALID);
  readonly #dummyHashes = new WeakMap<ReadonlyMap<string, string>, string>();
  /** Waiting comparisons and the running one, by digest. */
  readonly #pending = new Map<string, Comparison>();
  readonly #queues = {
    existingUsers: new ClientGroups<Comparison>(),
    others: new ClientGroups<Comparison>(),
  };
  #isRunning = false;

  /** @param maxPending - maximum number of comparisons that wait */
  constructor(maxPending: number, compare: ComparePassword = compareWithBcrypt) {
    this.#maxPending = maxPending;
    this.#compare = compare;
  }

  /** Rejects if the comparison fails. `users` maps names to hashes. */
  async verify(
    { user, password }: Credentials,
    users: ReadonlyMap<string, string>,
    { client, signal }: VerificationRequest,
  ): Promise<VerificationResult> {
    // The steps up to a cached result are the same for every user, so that their time tells nothing.
    const dummyHash = this.#getDummyHash(users);
    const userHash = users.get(user);
    const hash = userHash ?? dummyHash;
    const digest = this.#digest(user, hash, password);
    const isValid = this.#validDigests.has(digest);
    const isInvalid = this.#invalidDigests.has(digest);
    if (isValid) return 'valid';
    if (isInvalid) return 'invalid';
    return await new Promise((resolve, reject) => {
      const waiter = { signal, resolve, reject };
      const pending = this.#pending.get(digest);
      if (pending === undefined) {
        const isExistingUser = userHash !== undefined;
        this.#enqueue({ digest, client, password, hash, isExistingUser, waiters: [waiter] });
        void this.#run();
      } else if (pending.waiters.length < MAX_REQUESTS_PER_COMPARISON) {
        pending.waiters.push(waiter);
      } else {
        resolve('busy');
      }
    });
  }

  #enqueue(comparison: Comparison): void {
    const { existingUsers, others } = this.#queues;
    this.#pending.set(comparison.digest, comparison);
    (comparison.isExistingUser ? existingUsers : others).add(comparison.client, comparison);
    if (existingUsers.size + others.size <= this.#maxPending) return;
    const dropped = others.takeNewestOfLargest() ?? existingUsers.takeNewestOfLargest();
    if (dropped !== undefined) this.#settle(dropped, 'busy');
  }

  /** Runs one comparison after the other until none waits. Never rejects. */
  async #run(): Promise<void> {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const { existingUsers, others } = this.#queues;
    for (;;) {
      const next = existingUsers.takeNext() ?? others.takeNext();
      if (next === undefined) break;
      try {
        this.#settle(next, await this.#runComparison(next));
      } catch (error) {
        this.#pending.delete(next.digest);
        for (const { reject } of next.waiters) reject(error);
      }
    }
    this.#isRunning = false;
  }

  async #runComparison({
    digest,
    password,
    hash,
    isExistingUser,
    waiters,
  }: Comparison): Promise<VerificationResult> {
    if (waiters.every(({ signal }) => signal.aborted)) return 'busy';
    const isValid = (await this.#compare(password, hash)) && isExistingUser;
    (isValid ? this.#validDigests : this.#invalidDigests).add(digest);
    return isValid ? 'valid' : 'invalid';
  }

  #settle({ digest, waiters }: Comparison, result: VerificationResult): void {
    this.#pending.delete(digest);
    for (const { resolve } of waiters) resolve(result);
  }

  /** Has the lowest cost of all users: a costly hash of one user must not let others occupy the queue for seconds. */
  #getDummyHash(users: ReadonlyMap<string, string>): string {
    let hash = this.#dummyHashes.get(users);
    if (hash === undefined) {
      const [cost = '10'] = [...users.values()].map((userHash) => userHash.slice(4, 6)).toSorted();
      hash = `$2y$${cost}$${DUMMY_SALT_AND_HASH}`;
      this.#dummyHashes.set(users, hash);
    }
    return hash;
  }

  #digest(...parts: readonly string[]): string {
    return createHmac('sha256', this.#digestKey).update(JSON.stringify(parts)).digest('base64');
  }
}

/**
 * Runs in libuv's thread pool. It cannot be cancelled, and the process cannot exit before it ends: hence the limits on
 * the cost and on concurrent comparisons.
 */
async function compareWithBcrypt(password: string, hash: string): Promise<boolean> {
  const { verify } = await importBcrypt();
  return await verify(password, hash);
}

/** Imports bcrypt on use, so that platforms for which it has no build can run the exporter without passwords. */
export async function importBcrypt(): Promise<{ readonly verify: ComparePassword }> {
  return await import('@node-rs/bcrypt');
}

/** The most recently used entries. */
export class LruSet {
  readonly #capacity: number;
  readonly #entries = new Set<string>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Whether the set has an entry; marks it as used. */
  has(entry: string): boolean {
    if (!this.#entries.delete(entry)) return false;
    this.#entries.add(entry);
    return true;
  }

  add(entry: string): void {
    this.#entries.delete(entry);
    this.#entries.add(entry);
    const [oldest] = this.#entries;
    if (this.#entries.size > this.#capacity && oldest !== undefined) this.#entries.delete(oldest);
  }
}
