import type { Parameters } from 'fast-check';

/** Factor for the runs of every property: below 1 in `npm run test:unit`, above 1 in `npm run test:long`. */
const RUN_MULTIPLIER = Number(process.env['XVS_FUZZ_RUNS'] ?? 1);

/** The seed of every property; `scripts/test.mjs` sets and prints it. */
const SEED = Number(process.env['XVS_TEST_SEED'] ?? 1);

/**
 * Creates the parameters of a property with the number of its runs in `npm test`. When a property fails, add
 * the shrunk input that fast-check prints to the corpus.
 */
export function createRunParameters<T>(runs: number): Parameters<T> {
  return { numRuns: Math.ceil(runs * RUN_MULTIPLIER), seed: SEED };
}
