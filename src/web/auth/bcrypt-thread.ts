import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Clock } from '../../clock.ts';

/** How long one comparison may take: a cost of 10 takes a tenth of a second, each step more doubles it. */
const TIMEOUT_MS = 30_000;

/**
 * Compares passwords with bcrypt hashes in a thread of its own, one at a time: a comparison takes as long as hundreds
 * of scrapes. The thread starts with the first one, and does not keep the process alive.
 */
export class BcryptThread implements AsyncDisposable {
  readonly #clock: Clock;
  #worker: Worker | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rejects where the thread failed or took too long; the next comparison has a new one. */
  async compare(password: string, hash: string): Promise<boolean> {
    const worker = (this.#worker ??= startWorker());
    const ending = new AbortController();
    const { signal } = ending;
    try {
      const answer = once(worker, 'message', { signal });
      const exit = once(worker, 'exit', { signal }).then(() => {
        throw new Error('Expected the bcrypt thread to answer, found it ended');
      });
      const timeout = this.#clock.sleep(TIMEOUT_MS, signal).then(() => {
        throw new Error(`Expected a bcrypt comparison to end within ${TIMEOUT_MS} ms`);
      });
      worker.postMessage([password, hash]);
      const [isRight] = await Promise.race([answer, exit, timeout]);
      return isRight === true;
    } catch (error) {
      this.#worker = undefined;
      await worker.terminate();
      throw error;
    } finally {
      ending.abort();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker?.terminate();
  }
}

function startWorker(): Worker {
  const worker = new Worker(new URL('bcrypt-worker.js', import.meta.url), {
    // Nothing of the process's own is a thread's business.
    env: {},
    argv: [],
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 4 },
  });
  worker.unref();
  return worker;
}
