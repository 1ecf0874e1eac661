import type { Instant } from '../../src/runtime/instant.ts';
import type { Expectation } from '../../src/tally/expectations.ts';
import type { Snapshot } from '../../src/tally/snapshot.ts';
import { Tally, type TallyOptions } from '../../src/tally/tally.ts';
import type { TaskRecord } from './listing-records.ts';
import { RecordListing } from './record-listing.ts';
import { DEFAULT_TALLY } from './default-tally.ts';

/** What the service answers. */
export interface Answer {
  readonly users: number;
  readonly tasks: readonly TaskRecord[];
}

/** One process after the other that polls a service code: the real tally, with or without state. */
export class TallyProcess {
  readonly #options: TallyOptions;
  readonly #hasState: boolean;
  readonly #records = new Map<string, string>();
  #expectation: Expectation | undefined;
  #startedAt: number;
  #tally: Tally;

  constructor(options: Partial<TallyOptions>, hasState: boolean, startSecond = 0) {
    this.#options = { serviceCode: 'A', ...DEFAULT_TALLY, ...options };
    this.#hasState = hasState;
    this.#startedAt = startSecond;
    this.#tally = this.#start();
  }

  set expectation(expectation: Expectation) {
    this.#expectation = expectation;
    this.#tally.expectation = expectation;
  }

  /** When the last good listing was taken, by an earlier process too; without one, when this one began. */
  get listedMs(): number {
    return this.#tally.lastListing?.monotonicMs ?? 0;
  }

  restart(second: number): void {
    this.#startedAt = second;
    this.#tally = this.#start();
    if (!this.#hasState || this.#records.size === 0) return;
    const records = [...this.#records].toSorted(([a], [b]) => (a < b ? -1 : 1));
    if (!this.#tally.restore(records, this.readInstant(second))) throw new Error('Expected a valid state');
  }

  /** Takes a good listing. */
  poll({ users, tasks }: Answer, second: number): Snapshot {
    const listing = new RecordListing();
    listing.users = users;
    for (const task of tasks) listing.addTask(task);
    const { snapshot, records } = this.#tally.commit(listing.listing, this.readInstant(second));
    if (this.#hasState)
      for (const [key, value] of records.listChanges())
        if (value === undefined) this.#records.delete(key);
        else this.#records.set(key, value);
    return snapshot;
  }

  /** The clocks of the process; a night begins at the Unix epoch, as the tests of promtool do. */
  readInstant(second: number): Instant {
    return { wallMs: second * 1000, monotonicMs: (second - this.#startedAt) * 1000 };
  }

  #start(): Tally {
    const tally = new Tally(this.#options);
    tally.expectation = this.#expectation;
    return tally;
  }
}
