import type { Scrape } from './scrapers.ts';

interface Reading {
  readonly heapBytes: number;
  readonly descriptors: number;
}

/** What is kept of the heap's low points, which a collection leaves behind. */
export interface Flatness {
  readonly heapFloorEarly: number;
  readonly heapFloorLate: number;
  readonly descriptorsEarly: number;
  readonly descriptorsLate: number;
}

/** Follows the memory and the file descriptors of the exporter by its own metrics. */
export class FlatnessWatch {
  readonly #readings: Reading[] = [];

  note(scrape: Scrape): void {
    const heapBytes = scrape.get('nodejs_heap_size_used_bytes{}');
    const descriptors = scrape.get('process_open_fds{}');
    if (heapBytes === undefined || descriptors === undefined)
      throw new Error('Expected the metrics of the process');
    this.#readings.push({ heapBytes, descriptors });
  }

  /** The second third of the run, beside the last one: by then all is compiled and every cache is full. */
  result(): Flatness {
    const third = Math.floor(this.#readings.length / 3);
    const early = this.#readings.slice(third, 2 * third);
    const late = this.#readings.slice(2 * third);
    return {
      heapFloorEarly: Math.min(...early.map(({ heapBytes }) => heapBytes)),
      heapFloorLate: Math.min(...late.map(({ heapBytes }) => heapBytes)),
      descriptorsEarly: Math.max(...early.map(({ descriptors }) => descriptors)),
      descriptorsLate: Math.max(...late.map(({ descriptors }) => descriptors)),
    };
  }
}
