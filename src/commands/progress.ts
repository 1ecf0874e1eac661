import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Clock } from '../runtime/clock.ts';
import type { LogDestination } from '../runtime/logger.ts';

interface ListingInProgress {
  readonly users: number;
  readonly taskCount: number;
}

/** Most polls are shorter and show no progress. */
const INITIAL_DELAY_MS = 500;
const REFRESH_INTERVAL_MS = 200;
const BODY_CHUNK_CHANNEL = 'undici:request:bodyChunkReceived';
/** Moves the cursor to the start of the line and clears it. */
const ERASE_LINE = '\r\u001b[K';

/**
 * Shows the progress of reading listings in one line of a terminal, and erases it at the end. Log lines have to go
 * through it, so that they do not mix with that line.
 */
export class Progress implements LogDestination, Disposable {
  readonly isTTY = true;
  readonly #terminal: LogDestination;
  readonly #listings: ListingInProgress[] = [];
  readonly #abortController = new AbortController();
  #receivedBytes = 0;
  #isShown = false;

  constructor(terminal: LogDestination, clock: Clock) {
    this.#terminal = terminal;
    subscribe(BODY_CHUNK_CHANNEL, this.#onBodyChunk);
    void this.#run(clock);
  }

  /** Adds the records of a listing to the shown counts as they are read. */
  readonly addListing = (listing: ListingInProgress): void => {
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
    unsubscribe(BODY_CHUNK_CHANNEL, this.#onBodyChunk);
    this.#abortController.abort();
    this.#erase();
  }

  async #run(clock: Clock): Promise<void> {
    const { signal } = this.#abortController;
    const ignoreAbort = (): void => undefined;
    await clock.sleep(INITIAL_DELAY_MS, signal).catch(ignoreAbort);
    while (!signal.aborted) {
      this.#terminal.write(`${ERASE_LINE}${this.#formatLine()}`);
      this.#isShown = true;
      await clock.sleep(REFRESH_INTERVAL_MS, signal).catch(ignoreAbort);
    }
  }

  readonly #onBodyChunk = (message: unknown): void => {
    const chunk =
      typeof message === 'object' && message !== null && 'chunk' in message ? message.chunk : undefined;
    if (chunk instanceof Uint8Array) this.#receivedBytes += chunk.length;
  };

  #formatLine(): string {
    const sum = (count: (listing: ListingInProgress) => number): number =>
      this.#listings.reduce((total, listing) => total + count(listing), 0);
    const users = sum((listing) => listing.users);
    const tasks = sum((listing) => listing.taskCount);
    return `Reading: ${(this.#receivedBytes / 1e6).toFixed(1)} MB received, ${users} users, ${tasks} tasks …`;
  }

  #erase(): void {
    if (this.#isShown) this.#terminal.write(ERASE_LINE);
    this.#isShown = false;
  }
}
