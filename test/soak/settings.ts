/** How a soak is run: what `npm run test:soak -- <minutes> [--seed=n]` says. */
export interface SoakSettings {
  readonly minutes: number;
  readonly seed: number;
}

/** Service codes that have faults, and one that never has. */
export const FAULTY_CODES = ['ALPHA', 'BETA', 'GAMMA'] as const;
export const HEALTHY_CODE = 'SOUND';
export const SOAK_CODES = [...FAULTY_CODES, HEALTHY_CODE] as const;
export type SoakCode = (typeof SOAK_CODES)[number];

export const SECRET = 'soak-horse-battery-staple';
export const INTERVAL_MS = 1500;
/** Long enough for a few listings between two snapshots of the state: a kill leaves these to the journal. */
export const STATE_INTERVAL_MS = 7000;
/** The service lives so much faster than the clock, so that users and tasks come and go while one watches. */
export const SPEED_FACTOR = 40;
export const USERS = 200;
export const TASKS = 40;

/** Numbers from 0 to below 1 that a seed determines (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
