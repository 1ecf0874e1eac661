import type { ExpectedGroupName } from '../listing/label-groups.ts';
import type { TaskReading } from '../listing/listing.ts';
import { TextRows, type RowsOf } from '../listing/rows.ts';
import type { Instant } from '../runtime/instant.ts';
import { REMEMBERED_MS } from './ledger/departed-accounts.ts';
import { NEW_MS } from './label-set-limit.ts';
import type { TaskIncrease } from './ledger/ledger.ts';

/** Names with counters, expected and removed ones. */
const MAX_NAMES = 1000;

interface NameCounters {
  /** When the first listing without an expectation of the name was taken. */
  removedMs?: number | undefined;
  /** When the listing was taken that brought it, in monotonic milliseconds. */
  readonly newSinceMs: number;
  inputBytes: number;
  outputBytes: number;
  connections: number;
  isListed: boolean;
  /** In the first listing with the expectation nothing is counted. */
  isNew: boolean;
  /** Accounts whose last value waits; `undefined` before the first one. */
  waiting?: number | undefined;
}

type PersistedCounters = readonly [
  name: string,
  counters: Pick<NameCounters, 'removedMs' | 'inputBytes' | 'outputBytes'>,
];

/** The counters of expected names: they outlive tasks, and for a while the expectation. */
export class ExpectedCounters {
  readonly #counters = new Map<string, NameCounters>();
  #expected: ReadonlySet<string> = new Set();
  /** When the last listing was taken. */
  #nowMs = 0;

  /** Prepares for a listing, before the ledger takes it. */
  beginCommit(names: readonly string[], { monotonicMs: nowMs }: Instant): void {
    this.#expected = new Set(names);
    this.#nowMs = nowMs;
    for (const [name, counters] of this.#counters) {
      if (nowMs - (counters.removedMs ?? nowMs) > REMEMBERED_MS) this.#counters.delete(name);
      const wasRemoved = counters.removedMs !== undefined;
      counters.removedMs = this.#expected.has(name) ? undefined : (counters.removedMs ?? nowMs);
      counters.isListed = false;
      counters.isNew = wasRemoved;
      counters.connections = 0;
      if (counters.waiting !== undefined) counters.waiting = 0;
    }
    for (const name of names) {
      if (this.#counters.has(name)) continue;
      if (this.#counters.size >= MAX_NAMES) this.#forgetLongestRemoved();
      this.#counters.set(name, {
        newSinceMs: nowMs,
        inputBytes: 0,
        outputBytes: 0,
        connections: 0,
        isListed: false,
        isNew: true,
      });
    }
  }

  /** Adds a listed task, which may have no account. */
  list({ name, connections }: TaskReading): void {
    const counters = this.#find(name);
    if (counters === undefined) return;
    counters.isListed = true;
    counters.connections += connections;
  }

  /** Adds the increase of a listed task. */
  add({ name, outputs }: TaskReading, { inputBytes = 0, outputBytes, waiting }: TaskIncrease): void {
    const counters = this.#find(name);
    if (counters === undefined) return;
    const waitingCount = waiting.input + waiting.http_output;
    if (waitingCount > 0) counters.waiting = (counters.waiting ?? 0) + waitingCount;
    if (counters.isNew) return;
    counters.inputBytes += inputBytes;
    for (let index = 0; index < outputs.length; index += 1) counters.outputBytes += outputBytes[index] ?? 0;
  }

  get(name: string): Pick<NameCounters, 'inputBytes' | 'waiting'> | undefined {
    return this.#counters.get(name);
  }

  /** The rows of the expected names. */
  collect(names: readonly string[]): RowsOf<ExpectedGroupName> {
    const expectedNames = new TextRows('expectedNames');
    const newRows: number[] = [];
    for (const name of names) {
      const counters = this.#counters.get(name);
      if (counters === undefined) continue;
      const numbers = {
        expectedTaskInputBytes: counters.inputBytes,
        expectedTaskHttpOutputBytes: counters.outputBytes,
        expectedTaskHttpConnections: counters.isListed ? counters.connections : Number.NaN,
      };
      const row = expectedNames.set(numbers, name);
      if (this.#nowMs - counters.newSinceMs < NEW_MS) newRows.push(row);
    }
    return { expectedNames: { ...expectedNames, newRows } };
  }

  *exportCounters(): Generator<PersistedCounters, void> {
    for (const [name, { removedMs, inputBytes, outputBytes }] of this.#counters)
      yield [name, { removedMs, inputBytes, outputBytes }];
  }

  restore(persisted: readonly PersistedCounters[]): void {
    for (const [name, counters] of persisted)
      this.#counters.set(name, {
        ...counters,
        newSinceMs: Number.NEGATIVE_INFINITY,
        connections: 0,
        isListed: false,
        isNew: false,
      });
  }

  #find(name: string | undefined): NameCounters | undefined {
    return name === undefined || !this.#expected.has(name) ? undefined : this.#counters.get(name);
  }

  #forgetLongestRemoved(): void {
    let longest: string | undefined;
    let sinceMs = Number.POSITIVE_INFINITY;
    for (const [name, { removedMs = sinceMs }] of this.#counters)
      if (removedMs < sinceMs) [longest, sinceMs] = [name, removedMs];
    if (longest !== undefined) this.#counters.delete(longest);
  }
}
