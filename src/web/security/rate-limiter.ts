import type { RateLimit } from './config/web-file.ts';

/** A bucket of tokens: it holds `burst`, a request takes one, and one comes back each interval. */
export class RateLimiter {
  #limit: RateLimit | undefined;
  #tokens = 0;
  #filledAtMs = 0;

  /** Whether a request may pass at a time (monotonic, in milliseconds). A limit that has changed begins anew. */
  allows(limit: RateLimit | undefined, nowMs: number): boolean {
    if (limit === undefined) return true;
    if (limit.burst !== this.#limit?.burst || limit.intervalMs !== this.#limit.intervalMs) {
      this.#tokens = limit.burst;
      this.#filledAtMs = nowMs;
    }
    this.#limit = limit;
    const gained = (nowMs - this.#filledAtMs) / limit.intervalMs;
    this.#tokens = Math.min(limit.burst, this.#tokens + gained);
    this.#filledAtMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}
