import type { Parameters } from 'fast-check';

/** How many times as many runs as usual: for a night of it. */
const TIMES = Number(process.env['XVS_FUZZ_RUNS'] ?? 1);

/**
 * The parameters of a property that is tried so many times, or more on demand. Where it fails, fast-check prints seed
 * and path: `XVS_FUZZ_SEED` brings the same inputs back, and the shrunk one becomes a case of the corpus.
 */
export function runs<T>(usual: number): Parameters<T> {
  const seed = process.env['XVS_FUZZ_SEED'];
  return { numRuns: Math.ceil(usual * TIMES), ...(seed !== undefined && { seed: Number(seed) }) };
}
