import type { Clock } from '../clock.ts';
import type { ServiceCodePoller } from './service-code-poller.ts';
import type { Turnstiles } from './turnstiles.ts';

export interface SharedPollsOptions {
  readonly poller: ServiceCodePoller;
  /** Bounds how many polls of one address run at a time. */
  readonly turnstiles: Turnstiles;
  readonly clock: Clock;
  /** Takes mistakes of the program. */
  readonly failed: (error: unknown) => void;
}

/** The polls of one service code that others ask for: one at a time, which all share that ask while it runs. */
export class SharedPolls implements AsyncDisposable {
  readonly #options: SharedPollsOptions;
  readonly #stop = new AbortController();
  /** When the last one began, or was left out because the service asked for a pause; monotonic. */
  #begunMs = Number.NEGATIVE_INFINITY;
  #running: Promise<void> | undefined;

  constructor(options: SharedPollsOptions) {
    this.#options = options;
  }

  /** Deadline of one poll. */
  get timeoutMs(): number {
    return this.#options.poller.code.target.timeoutMs;
  }

  /**
   * The poll that runs or waits for its turn or, where the last one began so long ago, a new one; otherwise nothing.
   * Resolves when it is over, however it went.
   */
  pollIfOlder(minAgeMs: number): Promise<void> | undefined {
    const isDue = this.#options.clock.monotonic() - this.#begunMs >= minAgeMs;
    if (this.#running === undefined && isDue) {
      this.#running = this.#poll().finally(() => {
        this.#running = undefined;
      });
    }
    return this.#running;
  }

  /** Aborts what is under way and waits for its end; nothing begins any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#running;
  }

  async #poll(): Promise<void> {
    const { poller, turnstiles, clock, failed } = this.#options;
    const { signal } = this.#stop;
    const turn = async (): Promise<void> => {
      this.#begunMs = clock.monotonic();
      await poller.turn(signal);
    };
    try {
      await turnstiles.pass(new URL(poller.code.target.baseUrl).origin, turn, signal);
    } catch (error) {
      if (error !== signal.reason) failed(error);
    }
  }
}
