import PQueue from 'p-queue';

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
