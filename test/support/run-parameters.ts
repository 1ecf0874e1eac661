import type { Parameters } from 'fast-check';

/** Multiplies the runs of every property: below 1 in `npm run test:unit`, above it in `npm run test:fuzz`. */
const RUN_MULTIPLIER = Number(process.env['XVS_FUZZ_RUNS'] ?? 1);

/**
 * Creates the parameters of a property with the number of its runs in `npm test`. fast-check prints the seed and the
 * path of a failure: set `XVS_FUZZ_SEED` to repeat its inputs, and add the shrunk input to the corpus.
 */
export function createRunParameters<T>(runs: number): Parameters<T> {
  const seed = process.env['XVS_FUZZ_SEED'];
  return { numRuns: Math.ceil(runs * RUN_MULTIPLIER), ...(seed !== undefined && { seed: Number(seed) }) };
}
