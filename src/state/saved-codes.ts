import type { Logger } from '../runtime/logger.ts';
import type { Instant } from '../tally/instant.ts';
import type { Tally } from '../tally/tally.ts';
import { restoreTally, saveTally, type SavedCode } from './saved-code.ts';
import type { CodeState } from './write-state.ts';

/**
 * The states of all service codes: of those that have had a good listing their tallies, of the others what was saved.
 * The state of a code that is not configured is kept for a while, in case it is configured again.
 */
export class SavedCodes {
  readonly #saved: Map<string, SavedCode>;
  /** Tallies that have had a good listing in this process. */
  readonly #tallies = new Map<string, Tally>();
  readonly #retainMs: number;
  readonly #logger: Logger;

  constructor(saved: ReadonlyMap<string, SavedCode>, retainMs: number, logger: Logger) {
    this.#saved = new Map(saved);
    this.#retainMs = retainMs;
    this.#logger = logger;
  }

  /** The tallies that have had a good listing in this process. */
  get tallies(): Iterable<Tally> {
    return this.#tallies.values();
  }

  /** Restores the tally of a service code that is polled from now on; `undefined` if there is no state of it. */
  restore(serviceCode: string, createTally: () => Tally, now: Instant): Tally | undefined {
    this.#saveTally(serviceCode);
    const saved = this.#saved.get(serviceCode);
    return saved && restoreTally(createTally(), saved, now);
  }

  /** Replaces what was saved by a tally, which has had a good listing. */
  recordCommit(tally: Tally): void {
    this.#saved.delete(tally.serviceCode);
    this.#tallies.set(tally.serviceCode, tally);
  }

  /** Lists the states to write, given the tallies of the configured service codes; drops those that were kept for long. */
  list(configured: Iterable<Tally>, nowMs: number): readonly CodeState[] {
    const tallies = new Map([...configured].map((tally) => [tally.serviceCode, tally]));
    for (const serviceCode of this.#tallies.keys())
      if (!tallies.has(serviceCode)) this.#saveTally(serviceCode);
    const dropped: string[] = [];
    for (const [serviceCode, saved] of this.#saved) {
      const sinceMs = tallies.has(serviceCode) ? undefined : (saved.unconfiguredSinceMs ?? nowMs);
      if (sinceMs !== undefined && nowMs - sinceMs >= this.#retainMs) {
        this.#saved.delete(serviceCode);
        dropped.push(serviceCode);
      } else this.#saved.set(serviceCode, { ...saved, unconfiguredSinceMs: sinceMs });
    }
    if (dropped.length > 0)
      this.#logger.info({ service_codes: dropped }, 'Dropped the state of unconfigured service codes');
    const unsaved = [...tallies.values()].filter((tally) => !this.#saved.has(tally.serviceCode));
    return [...unsaved, ...this.#saved.values()];
  }

  #saveTally(serviceCode: string): void {
    const tally = this.#tallies.get(serviceCode);
    const saved = tally && saveTally(tally);
    if (saved !== undefined) this.#saved.set(serviceCode, saved);
    this.#tallies.delete(serviceCode);
  }
}
