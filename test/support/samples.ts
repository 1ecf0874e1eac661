import type { Sample, Samples } from '../../src/metrics/catalogue/family.ts';

/** The samples of a family one by one. */
export function listSamples(samples: Samples | undefined): readonly Sample[] {
  if (samples === undefined || !('labelSets' in samples)) return samples ?? [];
  const { serviceCode, labelSets, numbers } = samples;
  return labelSets
    .map((labels, row) => ({ labels: [serviceCode, ...labels], value: numbers[row] ?? Number.NaN }))
    .filter(({ value }) => !Number.isNaN(value));
}
