import PQueue from 'p-queue';

/** Requests of one client that may wait, so that others find room. */
const MAX_WAITING_OF_CLIENT = 2;

/** The queue is full, or too many requests of the client wait in it. */
export class QueueFullError extends Error {
  override readonly name = 'QueueFullError';
}

/** Runs a few tasks at a time; others wait in the order of their arrival. */
export class RequestQueue {
  readonly #queue: PQueue;
  readonly #maxWaiting: number;
  readonly #waitingByClient = new Map<string, number>();

  constructor({ maxRunning, maxWaiting }: { readonly maxRunning: number; readonly maxWaiting: number }) {
    this.#queue = new PQueue({ concurrency: maxRunning });
    this.#maxWaiting = maxWaiting;
  }

  /** Rejects with a {@link QueueFullError} if the task cannot wait. */
  async run<T>(client: string, task: () => Promise<T>): Promise<T> {
    const waitingCount = this.#waitingByClient.get(client) ?? 0;
    if (this.#queue.size >= this.#maxWaiting || waitingCount >= MAX_WAITING_OF_CLIENT)
      throw new QueueFullError('Too many requests wait.');
    this.#waitingByClient.set(client, waitingCount + 1);
    return await this.#queue.add(async () => {
      const left = (this.#waitingByClient.get(client) ?? 0) - 1;
      if (left > 0) this.#waitingByClient.set(client, left);
      else this.#waitingByClient.delete(client);
      return await task();
    });
  }
}
