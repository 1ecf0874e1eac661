import type { Family, HistogramSample } from '../../src/metrics/catalogue/family.ts';

export interface PlainSample {
  readonly labels: readonly string[];
  readonly value: number;
}

export type Sample = PlainSample | HistogramSample;

/** The samples of a family one by one, with the labels of the family but for static ones. */
export function listSamples({ samples, serviceCode }: Family): readonly Sample[] {
  const complete = (labels: readonly string[]) =>
    serviceCode === undefined ? labels : [serviceCode, ...labels];
  if (!('labelSets' in samples))
    return samples.map((sample) => ({ ...sample, labels: complete(sample.labels) }));
  return samples.labelSets
    .map((labels, row) => ({ labels: complete(labels), value: samples.numbers[row] ?? Number.NaN }))
    .filter(({ value }) => !Number.isNaN(value));
}
