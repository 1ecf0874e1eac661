import { createHmac, randomBytes } from 'node:crypto';

export interface Credentials {
  readonly user: string;
  readonly password: string;
}

/** `busy`: the password was not compared, because the queue is full or every client has disconnected. */
export type VerificationResult = 'valid' | 'invalid' | 'busy';

/** Compares a password with a bcrypt hash. */
export type ComparePassword = (password: string, hash: string) => Promise<boolean>;

/** More than there are users, so that a changed password fits too. */
const MAX_CACHED_VALID = 128;
/** Cached apart from the valid ones, so that guesses cannot evict them. */
const MAX_CACHED_INVALID = 1024;
/** Includes the running comparison. */
const MAX_PENDING_COMPARISONS = 16;
/** Requests with the same password that wait for its comparison. */
const MAX_REQUESTS_PER_COMPARISON = 64;

/** Salt and hash for users that do not exist. */
const DUMMY_SALT_AND_HASH = 'QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

interface PendingComparison {
  readonly result: Promise<VerificationResult>;
  /** One for each request that waits for the result. */
  readonly signals: AbortSignal[];
}

/**
 * Verifies passwords, one comparison at a time. It caches results as keyed digests of user, hash and password, so that
 * bcrypt does not slow down each scrape and a new hash in the configuration is compared again. Users that do not exist
 * take as long as users that do.
 */
export class PasswordVerifier {
  readonly #compare: ComparePassword;
  readonly #digestKey = randomBytes(32);
  readonly #validDigests = new LruSet(MAX_CACHED_VALID);
  readonly #invalidDigests = new LruSet(MAX_CACHED_INVALID);
  readonly #pending = new Map<string, PendingComparison>();
  #lastComparison: Promise<unknown> = Promise.resolve();

  constructor(compare: ComparePassword = compareWithBcrypt) {
    this.#compare = compare;
  }

  /** Rejects if the comparison fails. `users` maps names to hashes. */
  async verify(
    { user, password }: Credentials,
    users: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<VerificationResult> {
    const userHash = users.get(user);
    const hash = userHash ?? this.#createDummyHash(user, users);
    const digest = this.#digest(user, hash, password);
    if (userHash !== undefined && this.#validDigests.has(digest)) return 'valid';
    if (this.#invalidDigests.has(digest)) return 'invalid';
    const pending = this.#pending.get(digest);
    if (pending !== undefined) {
      if (pending.signals.length >= MAX_REQUESTS_PER_COMPARISON) return 'busy';
      pending.signals.push(signal);
      return await pending.result;
    }
    if (this.#pending.size >= MAX_PENDING_COMPARISONS) return 'busy';

    const signals = [signal];
    const run = async (): Promise<VerificationResult> => {
      if (signals.every(({ aborted }) => aborted)) return 'busy';
      const isValid = (await this.#compare(password, hash)) && userHash !== undefined;
      (isValid ? this.#validDigests : this.#invalidDigests).add(digest);
      return isValid ? 'valid' : 'invalid';
    };
    const result = this.#lastComparison.then(run).finally(() => this.#pending.delete(digest));
    this.#lastComparison = result.catch(() => undefined);
    this.#pending.set(digest, { result, signals });
    return await result;
  }

  /** Has the cost of one user's hash, chosen by the name, so that repeated requests take equally long. */
  #createDummyHash(user: string, users: ReadonlyMap<string, string>): string {
    const hashes = [...users.values()];
    const choice = createHmac('sha256', this.#digestKey).update(user).digest().readUInt32LE(0);
    const cost = hashes[choice % hashes.length]?.slice(4, 6) ?? '10';
    return `$2y$${cost}$${DUMMY_SALT_AND_HASH}`;
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
