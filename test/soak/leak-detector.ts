import type { Scrape } from './scrapers.ts';

interface ResourceSample {
  readonly heapBytes: number;
  readonly descriptors: number;
}

/** What is kept of the heap's low points, which a collection leaves behind. */
export interface ResourceUsage {
  readonly earlyMinHeapBytes: number;
  readonly lateMinHeapBytes: number;
  readonly earlyMaxDescriptors: number;
  readonly lateMaxDescriptors: number;
}

/** Follows the memory and the file descriptors of the exporter by its own metrics. */
export class LeakDetector {
  readonly #samples: ResourceSample[] = [];

  record(scrape: Scrape): void {
    const heapBytes = scrape.get('nodejs_heap_size_used_bytes{}');
    const descriptors = scrape.get('process_open_fds{}');
    if (heapBytes === undefined || descriptors === undefined)
      throw new Error('Expected the metrics of the process');
    this.#samples.push({ heapBytes, descriptors });
  }

  /** The second third of the run, beside the last one: by then all is compiled and every cache is full. */
  summarize(): ResourceUsage {
    const third = Math.floor(this.#samples.length / 3);
    const early = this.#samples.slice(third, 2 * third);
    const late = this.#samples.slice(2 * third);
    return {
      earlyMinHeapBytes: Math.min(...early.map(({ heapBytes }) => heapBytes)),
      lateMinHeapBytes: Math.min(...late.map(({ heapBytes }) => heapBytes)),
      earlyMaxDescriptors: Math.max(...early.map(({ descriptors }) => descriptors)),
      lateMaxDescriptors: Math.max(...late.map(({ descriptors }) => descriptors)),
    };
  }
}
