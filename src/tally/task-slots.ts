import type { TaskReading } from '../listing/listing.ts';
import type { Instant } from './instant.ts';

/** A task replaces a present one only if it is larger by this factor: slots do not flap. */
const REPLACEMENT_FACTOR = 2;

/** Slots for tasks that are shown one by one. Large tasks get those of absent, then of much smaller ones. */
export class TaskSlots {
  readonly #capacity: number;
  /** When each task with a slot was last seen, by id. */
  readonly #lastSeen = new Map<string, Instant>();

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Gives a slot to a task of an earlier process, even beyond the capacity. */
  restore(id: string, seen: Instant): void {
    this.#lastSeen.set(id, seen);
  }

  has(id: string): boolean {
    return this.#lastSeen.has(id);
  }

  assign(tasks: ReadonlyMap<string, TaskReading>, at: Instant): void {
    for (const id of this.#lastSeen.keys()) if (tasks.has(id)) this.#lastSeen.set(id, at);
    const candidates = [...tasks.values()].filter(({ id }) => !this.#lastSeen.has(id));
    if (this.#lastSeen.size + candidates.length > this.#capacity) this.#assignShort(tasks, candidates, at);
    else for (const { id } of candidates) this.#lastSeen.set(id, at);
  }

  #assignShort(
    tasks: ReadonlyMap<string, TaskReading>,
    candidates: readonly TaskReading[],
    at: Instant,
  ): void {
    const incumbents = this.#listReplaceable(tasks, at).values();
    const largestFirst = candidates.toSorted((a, b) => compareSizes(b, a) || (a.id < b.id ? -1 : 1));
    for (const candidate of largestFirst) {
      if (this.#lastSeen.size >= this.#capacity) {
        const id = incumbents.next().value;
        const present = tasks.get(id ?? '');
        const isSmaller = present === undefined || compareSizes(candidate, present, REPLACEMENT_FACTOR) > 0;
        if (id === undefined || !isSmaller) break;
        this.#lastSeen.delete(id);
      }
      this.#lastSeen.set(candidate.id, at);
    }
  }

  /** Absent tasks, those that left first at the front; then present ones, the smallest first. */
  #listReplaceable(tasks: ReadonlyMap<string, TaskReading>, at: Instant): readonly string[] {
    const absent = [...this.#lastSeen]
      .filter(([, seen]) => seen !== at)
      .toSorted(([, a], [, b]) => a.monotonicMs - b.monotonicMs)
      .map(([id]) => id);
    const present = [...tasks.values()].filter(({ id }) => this.#lastSeen.has(id)).toSorted(compareSizes);
    return [...absent, ...present.map(({ id }) => id)];
  }
}

/** By connections, then by input bytes: above 0 if the first is larger than the factor times the second. */
function compareSizes(a: TaskReading, b: TaskReading, factor = 1): number {
  if (a.connections !== b.connections) return a.connections - factor * b.connections;
  const [aBytes, bBytes] = [sumInputBytes(a), sumInputBytes(b)];
  return aBytes === bBytes ? 0 : aBytes - factor * bBytes;
}

function sumInputBytes({ inputs }: TaskReading): number {
  return inputs.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0);
}
