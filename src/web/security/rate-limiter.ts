import type { RateLimit } from './web-configuration-file.ts';

/** A token bucket of `burst` tokens that gains one token each `intervalMs`. */
export class RateLimiter {
  #limit: RateLimit | undefined;
  #tokens = 0;
  #filledAtMs = 0;

  /** Takes a token, at a monotonic time in milliseconds; false if there is none. A changed limit fills the bucket. */
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
