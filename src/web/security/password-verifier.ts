import { createHmac, randomBytes } from 'node:crypto';
import { BoundedMemory } from './bounded-memory.ts';
import type { Credentials } from './basic-credentials.ts';

/** `busy`: too many wait to be compared. */
export type Verdict = 'right' | 'wrong' | 'busy';

export interface PasswordCheckOptions {
  /** Compares a password with a bcrypt hash, at a high price. */
  readonly compare: (password: string, hash: string) => Promise<boolean>;
}

/** Right ones are as many as there are users, and a few from before a change. */
const REMEMBERED_RIGHT = 128;
/** Apart from the right ones: whoever guesses pushes no one out. */
const REMEMBERED_WRONG = 1024;
/** Comparisons that may wait; they go one at a time. */
const MAX_WAITING = 16;

/** Salt and hash that no password is known for. */
const NOBODY = 'QOauhQNbBCuQDKes6eFzPeMqBSjb7Mr5DUmpZ/VcEd00UAV/LDeSi';

interface Comparison {
  readonly verdict: Promise<Verdict>;
  /** Whether someone still waits for it. */
  readonly signals: AbortSignal[];
}

/**
 * Tells whether user and password are right, and remembers it: a scraper's password is compared once, not at every
 * scrape. What is remembered is a keyed digest, no password, and with the user's hash in it: a new hash is a new
 * question. An unknown user costs what a known one does.
 */
export class PasswordCheck {
  readonly #compare: PasswordCheckOptions['compare'];
  readonly #digestKey = randomBytes(32);
  readonly #right = new BoundedMemory(REMEMBERED_RIGHT);
  readonly #wrong = new BoundedMemory(REMEMBERED_WRONG);
  readonly #comparisons = new Map<string, Comparison>();
  #last: Promise<unknown> = Promise.resolve();

  constructor({ compare }: PasswordCheckOptions) {
    this.#compare = compare;
  }

  /** Rejects where the comparison itself fails. */
  async check(
    { user, password }: Credentials,
    users: ReadonlyMap<string, string>,
    signal: AbortSignal,
  ): Promise<Verdict> {
    const known = users.get(user);
    const hash = known ?? this.#hashOfNobody(user, users);
    const digest = this.#digest(user, hash, password);
    if (known !== undefined && this.#right.has(digest)) return 'right';
    if (this.#wrong.has(digest)) return 'wrong';
    const running = this.#comparisons.get(digest);
    if (running !== undefined) {
      running.signals.push(signal);
      return await running.verdict;
    }
    if (this.#comparisons.size >= MAX_WAITING) return 'busy';
    return await this.#enqueue(digest, { password, hash, isKnown: known !== undefined, signal });
  }

  #enqueue(
    digest: string,
    {
      password,
      hash,
      isKnown,
      signal,
    }: { password: string; hash: string; isKnown: boolean; signal: AbortSignal },
  ): Promise<Verdict> {
    const signals = [signal];
    const run = async (): Promise<Verdict> => {
      if (signals.every(({ aborted }) => aborted)) return 'busy';
      const isRight = (await this.#compare(password, hash)) && isKnown;
      (isRight ? this.#right : this.#wrong).add(digest);
      return isRight ? 'right' : 'wrong';
    };
    const verdict = this.#last.then(run).finally(() => this.#comparisons.delete(digest));
    this.#last = verdict.catch(() => undefined);
    this.#comparisons.set(digest, { verdict, signals });
    return verdict;
  }

  /** A hash as dear as that of one of the users; of which, the name decides, so that it stays the same. */
  #hashOfNobody(user: string, users: ReadonlyMap<string, string>): string {
    const hashes = [...users.values()];
    const choice = createHmac('sha256', this.#digestKey).update(user).digest().readUInt32LE(0);
    const cost = hashes[choice % hashes.length]?.slice(4, 6) ?? '10';
    return `$2y$${cost}$${NOBODY}`;
  }

  #digest(...parts: readonly string[]): string {
    return createHmac('sha256', this.#digestKey).update(JSON.stringify(parts)).digest('base64');
  }
}
