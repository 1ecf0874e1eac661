import type { Clock } from '../clock.ts';
import type { Logger } from '../log.ts';

const LOOK_EVERY_MS = 5000;

export interface WatchdogOptions {
  /** The service codes whose poll loops stand still at a monotonic moment. */
  readonly standingStill: (nowMs: number) => readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Looks whether the poll loops go on; that they do not is a line in the log once. */
export class Watchdog {
  readonly #options: WatchdogOptions;
  #wasHealthy = true;

  constructor(options: WatchdogOptions) {
    this.#options = options;
  }

  /** Whether every poll loop goes on, as of now; logs it where that has changed. */
  look(): boolean {
    const { standingStill, clock, logger } = this.#options;
    const serviceCodes = standingStill(clock.monotonic());
    const isHealthy = serviceCodes.length === 0;
    if (this.#wasHealthy && !isHealthy)
      logger.error({ service_codes: serviceCodes }, 'Polls stand still: not healthy');
    if (!this.#wasHealthy && isHealthy) logger.info('Polls go on: healthy again');
    this.#wasHealthy = isHealthy;
    return isHealthy;
  }

  /** Looks every few seconds until the signal aborts, and then rejects with its reason. */
  async run(signal: AbortSignal): Promise<never> {
    const { clock } = this.#options;
    for (;;) {
      await clock.sleep(LOOK_EVERY_MS, signal);
      this.look();
    }
  }
}
