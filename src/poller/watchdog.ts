import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

const CHECK_INTERVAL_MS = 5000;

export interface WatchdogOptions {
  /** Returns the service codes whose poll loop is stuck at a monotonic time. */
  readonly findStuckCodes: (nowMs: number) => readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Detects stuck poll loops and logs each change of health once. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #wasHealthy = true;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** Whether no poll loop is stuck now. */
  check(): boolean {
    const { findStuckCodes, clock, logger } = this.#options;
    const stuckCodes = findStuckCodes(clock.monotonic());
    const isHealthy = stuckCodes.length === 0;
    if (this.#wasHealthy && !isHealthy)
      logger.error({ service_codes: stuckCodes }, 'Poll loop is stuck; reporting unhealthy');
    if (!this.#wasHealthy && isHealthy) logger.info('Poll loop recovered; reporting healthy');
    this.#wasHealthy = isHealthy;
    return isHealthy;
  }

  /** Checks every 5 seconds until the signal aborts; rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    for (;;) {
      await this.#options.clock.sleep(CHECK_INTERVAL_MS, signal);
      this.check();
    }
  }
}
