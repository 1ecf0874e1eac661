import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Clock } from '../runtime/clock.ts';
import { UpstreamError } from './errors.ts';

/** Ends a body. It is also what a {@link DecodingBudget} knows the body by. */
type FailBody = (error: UpstreamError) => void;

/**
 * Limits the decoded bytes of all bodies being read. Beyond the limit the largest body fails, so that a few
 * that expand without end do not affect small ones; its bytes are free again at once.
 */
export class DecodingBudget {
  readonly limitBytes: number;
  #usedBytes = 0;
  readonly #bytesByBody = new Map<FailBody, number>();

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  get usedBytes(): number {
    return this.#usedBytes;
  }

  start(body: FailBody): void {
    this.#bytesByBody.set(body, 0);
  }

  /** Counts a chunk before it is passed on, unless its body has ended. */
  add(body: FailBody, bytes: number): void {
    const before = this.#bytesByBody.get(body);
    if (before === undefined) return;
    this.#bytesByBody.set(body, before + bytes);
    this.#usedBytes += bytes;
    while (this.#usedBytes > this.limitBytes) this.#failLargest();
  }

  end(body: FailBody): void {
    this.#usedBytes -= this.#bytesByBody.get(body) ?? 0;
    this.#bytesByBody.delete(body);
  }

  /** Beyond the limit there is at least one body. */
  #failLargest(): void {
    const [largest] = [...this.#bytesByBody].toSorted(([, one], [, other]) => other - one);
    if (largest === undefined) return;
    const [fail] = largest;
    this.end(fail);
    const message = `The responses that are being read exceed ${this.limitBytes} bytes together, and this one is the largest`;
    fail(new UpstreamError('too_large', message));
  }
}

/** What bodies get of an event loop turn. Timers and new connections, one a turn in Node.js, follow. */
const TURN_MS = 5;

/** Limits the time that the bodies of all service codes together take of a turn of the event loop. */
export class TurnGate {
  readonly #clock: Pick<Clock, 'monotonic'>;
  /** Since a turn was last waited for. */
  #spentMs = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock;
  }

  /** Does some work at once if the turn has time left, else in a later turn, in the order of the calls. */
  async run<T>(work: () => T): Promise<T> {
    while (this.#spentMs >= TURN_MS) await (this.#nextTurn ??= this.#waitForTurn());
    const startedMs = this.#clock.monotonic();
    try {
      return work();
    } finally {
      this.#spentMs += this.#clock.monotonic() - startedMs;
    }
  }

  async #waitForTurn(): Promise<void> {
    await nextTurn();
    this.#spentMs = 0;
    this.#nextTurn = undefined;
  }
}
