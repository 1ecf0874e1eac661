import { Points, type LabelSet } from '../metrics/points.ts';
import type { Instant } from './instant.ts';

/** How long a server is remembered after it left. */
const REMEMBERED_MS = 60 * 60 * 1000;

/** When each server was last in a good listing, for an hour. */
export class ServerMemory {
  readonly #maxServers: number;
  readonly #lastSeen = new Map<string, Instant>();
  /** Servers of the last listing that found no place. */
  leftOut = 0;

  constructor(maxServers: number) {
    this.#maxServers = maxServers;
  }

  note(servers: ReadonlySet<string>, at: Instant): void {
    for (const [vsId, seen] of this.#lastSeen) {
      if (at.monotonicMs - seen.monotonicMs >= REMEMBERED_MS) this.#lastSeen.delete(vsId);
    }
    this.leftOut = 0;
    for (const vsId of servers) {
      if (this.#lastSeen.has(vsId) || this.#lastSeen.size < this.#maxServers) this.#lastSeen.set(vsId, at);
      else this.leftOut += 1;
    }
  }

  /** Servers seen within the hour, this listing's among them. */
  get servers(): Iterable<string> {
    return this.#lastSeen.keys();
  }

  /** When each of them was last seen. */
  get kept(): Iterable<readonly [vsId: string, seen: Instant]> {
    return this.#lastSeen;
  }

  /** Takes a server that an earlier process saw. */
  restore(vsId: string, seen: Instant): void {
    this.#lastSeen.set(vsId, seen);
  }

  points(serviceCode: string): Points {
    const labelSets = [...this.#lastSeen.keys()].map((vsId): LabelSet => [vsId]);
    const seen = [...this.#lastSeen.values()].map(({ wallMs }) => wallMs / 1000);
    return new Points(serviceCode, labelSets, seen);
  }
}
