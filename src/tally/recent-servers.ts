import { SampleColumns, type LabelSet } from '../metrics/catalogue/sample-columns.ts';
import type { Instant } from './instant.ts';

const RETENTION_MS = 60 * 60 * 1000;

/** When each server was last in a good listing, for one hour. */
export class RecentServers {
  readonly #maxServers: number;
  /** The servers that left first come first. */
  readonly #lastSeen = new Map<string, Instant>();
  /** Servers of the last listing beyond the limit. */
  omittedCount = 0;

  constructor(maxServers: number) {
    this.#maxServers = maxServers;
  }

  update(ids: ReadonlySet<string>, at: Instant): void {
    const present = [...ids].filter((vsId) => this.#lastSeen.delete(vsId));
    for (const [vsId, seen] of this.#lastSeen) {
      if (at.monotonicMs - seen.monotonicMs >= RETENTION_MS) this.#lastSeen.delete(vsId);
    }
    for (const vsId of present) this.#lastSeen.set(vsId, at);
    this.omittedCount = 0;
    for (const vsId of ids) {
      if (this.#lastSeen.has(vsId)) continue;
      if (this.#hasSlot(at)) this.#lastSeen.set(vsId, at);
      else this.omittedCount += 1;
    }
  }

  /** Servers seen within the hour, those of the last listing included. */
  get servers(): Iterable<string> {
    return this.#lastSeen.keys();
  }

  get entries(): Iterable<readonly [vsId: string, seen: Instant]> {
    return this.#lastSeen;
  }

  /** Restores a server that an earlier process saw. */
  restore(vsId: string, seen: Instant): void {
    this.#lastSeen.set(vsId, seen);
  }

  collect(serviceCode: string): SampleColumns {
    const labelSets = [...this.#lastSeen.keys()].map((vsId): LabelSet => [vsId]);
    const seen = [...this.#lastSeen.values()].map(({ wallMs }) => wallMs / 1000);
    return new SampleColumns(serviceCode, labelSets, seen);
  }

  /** Whether there is room for one more server, if need be after the one that left first is removed. */
  #hasSlot(at: Instant): boolean {
    if (this.#lastSeen.size < this.#maxServers) return true;
    const [first] = this.#lastSeen;
    if (first === undefined || first[1] === at) return false;
    return this.#lastSeen.delete(first[0]);
  }
}
