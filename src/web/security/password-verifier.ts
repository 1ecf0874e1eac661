import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { MAX_WAITING_PASSWORDS } from '../../runtime/limits.ts';
import { RequestQueue } from '../request-queue.ts';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** Compares a password with a bcrypt hash. */
export type ComparePassword = (password: string, hash: string) => Promise<boolean>;

/** More than there are users, so that a changed password fits too. */
const MAX_CACHED_VALID = 128;
/** Cached apart from the valid ones, so that guesses cannot evict them. */
const MAX_CACHED_INVALID = 1024;

/** Salt and hash for users that do not exist. */
const DUMMY_SALT_AND_HASH = 'QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

/**
 * Verifies passwords, one comparison at a time. It caches results as keyed digests of user, hash and
 * password, so that bcrypt does not slow down each scrape and a new hash in the configuration is compared again. Users
 * that do not exist take as long as the user with the cheapest hash.
 */
export class PasswordVerifier {
  readonly #compare: ComparePassword;
  readonly #digestKey = randomBytes(32);
  readonly #valid = new LRUCache<string, boolean>({ max: MAX_CACHED_VALID });
  readonly #invalid = new LRUCache<string, boolean>({ max: MAX_CACHED_INVALID });
  readonly #dummyHashes = new WeakMap<ReadonlyMap<string, string>, string>();
  /** Comparisons that run or wait, by digest: requests with the same password share one. */
  readonly #pending = new Map<string, Promise<boolean>>();
  readonly #queue = new RequestQueue({ maxRunning: 1, maxWaiting: MAX_WAITING_PASSWORDS });

  constructor(compare: ComparePassword = compareWithBcrypt) {
    this.#compare = compare;
  }

  /**
   * Returns whether the password is valid. Rejects with a `QueueFullError` if too many wait, and if the comparison fails.
   * `users` maps names to hashes; `client` is an address or a network.
   */
  async verify(
    { user, password }: Credentials,
    users: ReadonlyMap<string, string>,
    client: string,
  ): Promise<boolean> {
    // The steps up to a cached result are the same for every user, so that their time tells nothing.
    const dummyHash = this.#getDummyHash(users);
    const userHash = users.get(user);
    const hash = userHash ?? dummyHash;
    const digest = this.#digest(user, hash, password);
    const cached = this.#valid.get(digest) ?? this.#invalid.get(digest);
    if (cached !== undefined) return cached;
    const pending = this.#pending.get(digest);
    if (pending !== undefined) return await pending;
    const comparison = this.#queue.run(client, async () => {
      const isValid = (await this.#compare(password, hash)) && userHash !== undefined;
      (isValid ? this.#valid : this.#invalid).set(digest, isValid);
      return isValid;
    });
    this.#pending.set(digest, comparison);
    try {
      return await comparison;
    } finally {
      this.#pending.delete(digest);
    }
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
