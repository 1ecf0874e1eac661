import type { Snapshot } from '../../../src/tally/snapshot.ts';
import type { Instant } from '../../../src/runtime/instant.ts';
import type { Expectation } from '../../../src/tally/expectations.ts';
import { Tally } from '../../../src/tally/tally.ts';
import type { ServiceCode } from './service.ts';
import { Service } from './service.ts';

/** One process after the other that polls a code: the real tally, with or without state. */
export class CodeProcess {
  readonly #code: ServiceCode;
  readonly #service: Service;
  readonly #hasState: boolean;
  #expectation: Expectation | undefined;
  readonly #records = new Map<string, string>();
  #tally: Tally;
  #startedAt: number;
  snapshot: Snapshot | undefined;

  constructor(code: ServiceCode, hasState: boolean, startSecond = 0) {
    this.#code = code;
    this.#service = new Service(code, startSecond);
    this.#hasState = hasState;
    this.#startedAt = startSecond;
    this.#tally = this.#start();
  }

  set expectation(expectation: Expectation) {
    this.#expectation = expectation;
    this.#tally.expectation = expectation;
  }

  /** When the last good listing was taken, also by an earlier process with state; else when this one began. */
  get listedMs(): number {
    return this.#tally.lastListing?.monotonicMs ?? 0;
  }

  restart(second: number): void {
    this.#startedAt = second;
    this.snapshot = undefined;
    this.#tally = this.#start();
    if (!this.#hasState || this.#records.size === 0) return;
    const records = [...this.#records].toSorted(([a], [b]) => (a < b ? -1 : 1));
    if (!this.#tally.restore(records, this.readInstant(second))) throw new Error('Expected a valid state');
  }

  /** Takes a good listing. */
  poll(second: number): Snapshot {
    const { snapshot, records } = this.#tally.commit(this.#service.list(second), this.readInstant(second));
    if (this.#hasState)
      for (const [key, value] of records.listChanges())
        if (value === undefined) this.#records.delete(key);
        else this.#records.set(key, value);
    this.snapshot = snapshot;
    return snapshot;
  }

  #start(): Tally {
    const tally = new Tally({
      serviceCode: this.#code.serviceCode,
      maxLabelSets: 2000,
      maxStreamRate: 12.5e6,
      stallAfterMs: 60_000,
      pollIntervalMs: this.#code.intervalSeconds * 1000,
      perTask: false,
      maxTasks: 0,
    });
    tally.expectation = this.#expectation;
    return tally;
  }

  /** The clocks of the process; a night begins at the Unix epoch, as the tests of promtool do. */
  readInstant(second: number): Instant {
    return { wallMs: second * 1000, monotonicMs: (second - this.#startedAt) * 1000 };
  }
}
