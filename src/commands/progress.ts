import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Clock } from '../clock.ts';
import type { LogDestination } from '../log.ts';

/** A listing that is being read. */
interface Underway {
  readonly users: number;
  readonly tasks: { readonly size: number };
}

/** What a poll takes at most before there is anything to say of it. */
const PATIENCE_MS = 500;
const STEP_MS = 200;
/** To the beginning of the line, and clear what stands there. */
const ERASE = '\r\u001b[K';

/**
 * Says at a terminal how far listings have been read, in a line that is written over, and erased in the end. Log
 * lines go through it, so that they do not end up in that line.
 */
export class Progress implements LogDestination, Disposable {
  readonly isTTY = true;
  readonly #terminal: LogDestination;
  readonly #listings: Underway[] = [];
  readonly #ending = new AbortController();
  #bytes = 0;
  #isShown = false;

  constructor(terminal: LogDestination, clock: Clock) {
    this.#terminal = terminal;
    subscribe('undici:request:bodyChunkReceived', this.#received);
    void this.#run(clock);
  }

  /** Adds the records of a listing, as they are read, to what is said. */
  readonly watch = (listing: Underway): void => {
    this.#listings.push(listing);
  };

  hasColors(): boolean {
    return this.#terminal.hasColors?.() === true;
  }

  write(line: string): void {
    this.#erase();
    this.#terminal.write(line);
  }

  [Symbol.dispose](): void {
    unsubscribe('undici:request:bodyChunkReceived', this.#received);
    this.#ending.abort();
    this.#erase();
  }

  async #run(clock: Clock): Promise<void> {
    const { signal } = this.#ending;
    const isOver = (): boolean => signal.aborted;
    await clock.sleep(PATIENCE_MS, signal).catch(isOver);
    while (!signal.aborted) {
      this.#terminal.write(`${ERASE}${this.#text()}`);
      this.#isShown = true;
      await clock.sleep(STEP_MS, signal).catch(isOver);
    }
  }

  readonly #received = (message: unknown): void => {
    const chunk =
      typeof message === 'object' && message !== null && 'chunk' in message ? message.chunk : undefined;
    if (chunk instanceof Uint8Array) this.#bytes += chunk.length;
  };

  #text(): string {
    const sum = (count: (listing: Underway) => number): number =>
      this.#listings.reduce((total, listing) => total + count(listing), 0);
    const users = sum((listing) => listing.users);
    const tasks = sum((listing) => listing.tasks.size);
    return `Reading: ${(this.#bytes / 1e6).toFixed(1)} MB received, ${users} users, ${tasks} tasks …`;
  }

  #erase(): void {
    if (this.#isShown) this.#terminal.write(ERASE);
    this.#isShown = false;
  }
}
