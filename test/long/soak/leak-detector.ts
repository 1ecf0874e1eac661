import type { Scrape } from './scrapers.ts';

interface ResourceSample {
  readonly heapBytes: number;
  readonly descriptors: number;
}

/**
 * Minimum heap size, reached after a garbage collection, and minimum number of descriptors, early and late in a run. A leak
 * raises the minimum; the maximum depends on how many connections a slow machine has open.
 */
export interface ResourceUsage {
  readonly earlyMinHeapBytes: number;
  readonly lateMinHeapBytes: number;
  readonly earlyMinDescriptors: number;
  readonly lateMinDescriptors: number;
}

/** Collects heap size and open file descriptors from scraped process metrics. */
export class LeakDetector {
  readonly #samples: ResourceSample[] = [];

  record(scrape: Scrape): void {
    const heapBytes = scrape.get('nodejs_heap_size_used_bytes{}');
    const descriptors = scrape.get('process_open_fds{}');
    if (heapBytes === undefined || descriptors === undefined)
      throw new Error('Expected process metrics in the scrape, found none');
    this.#samples.push({ heapBytes, descriptors });
  }

  /** Compares the second third of the run (early) with the last one (late). In the first, code compiles and caches fill. */
  summarize(): ResourceUsage {
    const third = Math.floor(this.#samples.length / 3);
    const early = this.#samples.slice(third, 2 * third);
    const late = this.#samples.slice(2 * third);
    return {
      earlyMinHeapBytes: Math.min(...early.map(({ heapBytes }) => heapBytes)),
      lateMinHeapBytes: Math.min(...late.map(({ heapBytes }) => heapBytes)),
      earlyMinDescriptors: Math.min(...early.map(({ descriptors }) => descriptors)),
      lateMinDescriptors: Math.min(...late.map(({ descriptors }) => descriptors)),
    };
  }
}
