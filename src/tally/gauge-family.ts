import type { SampleColumns } from '../metrics/catalogue/sample-columns.ts';
import type { Instant } from './instant.ts';
import { LabelLimiter, type LabelFolding } from './label-limiter.ts';
import type { LabelSum } from '../listing/families.ts';
import { SampleBuffer, SampleCache } from './sample-cache.ts';

/** The samples of a family and the number of label sets that were folded. */
export interface LimitedSamples {
  readonly samples: SampleColumns;
  readonly foldedLabelSets: number;
}

/** The gauges of one family of one service code: the sums of the last listing. */
export class GaugeFamily {
  readonly #limiter: LabelLimiter;
  readonly #sampleCache: SampleCache;

  constructor(serviceCode: string, folding: LabelFolding) {
    this.#limiter = new LabelLimiter(folding, true);
    this.#sampleCache = new SampleCache(serviceCode);
  }

  /** Takes the sums of a listing. */
  commit(sums: Iterable<LabelSum>, at: Instant): LimitedSamples {
    const limited = this.#limiter.limit(sums, at);
    const samples = new SampleBuffer();
    for (const { labels, value } of limited.sums) samples.add(labels, value);
    return { samples: this.#sampleCache.update(samples), foldedLabelSets: limited.foldedLabelSets };
  }
}
