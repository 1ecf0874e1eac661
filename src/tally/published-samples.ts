import type { PlainSample } from '../metrics/family.ts';

/** The sample with another value; the same one if it has that already. */
export function withValue(sample: PlainSample, value: number): PlainSample {
  return sample.value === value ? sample : { ...sample, value };
}

/**
 * The samples of a family that were published last. Where none has changed since, the very same list is published
 * again: what was rendered of it still holds, and there is nothing for the garbage collector.
 */
export class PublishedSamples {
  #last: readonly PlainSample[] = [];

  publish(samples: readonly PlainSample[]): readonly PlainSample[] {
    const last = this.#last;
    const isUnchanged = samples.length === last.length && samples.every((sample, at) => sample === last[at]);
    if (!isUnchanged) this.#last = samples;
    return this.#last;
  }
}
