import type { ScrapeRequest } from '../poller/scrape-trigger.ts';
import { linkAbort } from '../runtime/abort.ts';
import { MAX_WAITING_SCRAPES } from '../runtime/limits.ts';
import { GaveWayError } from './fair-queue.ts';
import { FairShare } from './fair-share.ts';

/** A scrape with its client. */
export interface ClientScrape extends ScrapeRequest {
  /** Address or network. Default: none. */
  readonly client?: string;
}

interface Wait {
  /** The client and the service code: a code that hangs must not fill the limit for others. */
  readonly client: string;
  readonly giveWay: () => void;
}

/** Limits the scrapes that wait for polls. */
export class PollWaits {
  readonly #waits = new FairShare<Wait>();

  /** Waits for `refresh`. Rejects with a `GaveWayError` if too many scrapes wait. */
  async run(scrape: ClientScrape, refresh: (scrape: ScrapeRequest) => Promise<void>): Promise<void> {
    const { client, serviceCode, signal } = scrape;
    using abort = linkAbort(signal);
    const wait: Wait = {
      client: JSON.stringify([client, serviceCode]),
      giveWay: () => abort.abort(new GaveWayError('Too many scrapes wait for polls.')),
    };
    this.#waits.add(wait);
    if (this.#waits.size > MAX_WAITING_SCRAPES) this.#evict();
    try {
      await refresh({ ...scrape, signal: abort.signal });
    } finally {
      this.#waits.delete(wait);
    }
  }

  #evict(): void {
    const victim = this.#waits.findVictim();
    if (victim === undefined) return;
    this.#waits.delete(victim);
    victim.giveWay();
  }
}
