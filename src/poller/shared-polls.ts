import PQueue from 'p-queue';
import type { Clock } from '../runtime/clock.ts';
import type { ServiceCodePoller } from './service-code-poller.ts';

/** Limits how many tasks run at a time for each key; further tasks wait in the order of their calls. */
export class KeyedSemaphore {
  #limit: number;
  readonly #queues = new Map<string, PQueue>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Sets the limit of every key, effective immediately; running tasks are not stopped. */
  set limit(limit: number) {
    this.#limit = limit;
    for (const queue of this.#queues.values()) queue.concurrency = limit;
  }

  /** Runs a task as soon as its key has a free slot. If the signal aborts while the task waits, rejects with its reason. */
  async run(key: string, task: () => Promise<void>, signal: AbortSignal): Promise<void> {
    let running: Promise<void> | undefined;
    try {
      await this.#getQueue(key).add(() => (running = task()), { signal });
    } finally {
      // On abort, p-queue rejects before the task has ended.
      await Promise.allSettled([running]);
    }
  }

  #getQueue(key: string): PQueue {
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = new PQueue({ concurrency: this.#limit }).once('idle', () => this.#queues.delete(key));
      this.#queues.set(key, queue);
    }
    return queue;
  }
}

export interface SharedPollsOptions {
  readonly poller: ServiceCodePoller;
  /** Limits concurrent polls for each origin. */
  readonly semaphore: KeyedSemaphore;
  readonly clock: Clock;
  readonly onInternalError: (error: unknown) => void;
}

/** On-demand polls of one service code: one at a time, shared by all requests made while it runs. */
export class SharedPolls implements AsyncDisposable {
  readonly #options: SharedPollsOptions;
  readonly #abortController = new AbortController();
  /** Monotonic start of the last poll, also of one skipped because the service asked for a pause. */
  #startedMs = Number.NEGATIVE_INFINITY;
  #currentPoll: Promise<void> | undefined;

  constructor(options: SharedPollsOptions) {
    this.#options = options;
  }

  /** Deadline of one poll. */
  get timeoutMs(): number {
    return this.#options.poller.code.target.timeoutMs;
  }

  /**
   * Returns the running or queued poll; without one, starts a poll if the last one started at least `minAgeMs` ago.
   * The promise resolves when the poll has ended, successful or not.
   */
  pollIfOlder(minAgeMs: number): Promise<void> | undefined {
    const isDue = this.#options.clock.monotonic() - this.#startedMs >= minAgeMs;
    if (this.#currentPoll === undefined && isDue) {
      this.#currentPoll = this.#poll().finally(() => {
        this.#currentPoll = undefined;
      });
    }
    return this.#currentPoll;
  }

  /** Aborts the running or queued poll and waits for its end. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#abortController.abort();
    await this.#currentPoll;
  }

  async #poll(): Promise<void> {
    const { poller, semaphore, clock, onInternalError } = this.#options;
    const { signal } = this.#abortController;
    const runPoll = async (): Promise<void> => {
      this.#startedMs = clock.monotonic();
      await poller.pollUnlessPaused(signal);
    };
    try {
      await semaphore.run(new URL(poller.code.target.baseUrl).origin, runPoll, signal);
    } catch (error) {
      if (error !== signal.reason) onInternalError(error);
    }
  }
}
