import { PollHistory } from '../../src/poller/poll-history.ts';
import { Store } from '../../src/poller/store.ts';
import { createReaderLimits } from '../../src/listing/reader-limits.ts';
import type { ExpositionFormat } from '../../src/metrics/exposition/exposition.ts';
import { Tally } from '../../src/tally/tally.ts';
import { createReaderPool, POLLED_CODE, readInChunks } from './read-listing.ts';
import { render } from './render.ts';
import { START_MS, STEP_MS } from './tally-run.ts';

/** The way of listings from their bytes to the exposition, without requests: read, committed, published, rendered. */
export class ListingRun {
  readonly #tally: Tally;
  readonly #pool: ReturnType<typeof createReaderPool>;
  readonly #store = new Store();
  #elapsedMs = 0;

  constructor(maxLabelSets = 1000) {
    this.#pool = createReaderPool(createReaderLimits(maxLabelSets));
    this.#tally = new Tally({
      serviceCode: POLLED_CODE,
      maxLabelSets,
      stallAfterMs: 60_000,
      pollIntervalMs: STEP_MS,
      perTask: true,
      maxTasks: 1000,
    });
  }

  /** Publishes a listing, one interval after the one before. */
  publish(body: Buffer): void {
    const listing = readInChunks(body, [], this.#pool);
    const at = { wallMs: START_MS + this.#elapsedMs, monotonicMs: this.#elapsedMs };
    this.#elapsedMs += STEP_MS;
    this.#store.publish({
      serviceCode: POLLED_CODE,
      staleAfterMs: 3 * STEP_MS,
      history: new PollHistory(),
      isUp: true,
      ret: 0,
      snapshot: this.#tally.commit(listing, at).snapshot,
    });
  }

  /** Renders the last listing, with the totals of new counters. */
  render(format: ExpositionFormat = 'text'): string {
    return render(this.#store.collectFamilies(this.#elapsedMs, undefined, 'total'), format);
  }
}
