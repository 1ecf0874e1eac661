/** Arguments of `npm run test:soak -- <minutes> [--seed=n]`. */
export interface SoakSettings {
  readonly minutes: number;
  readonly seed: number;
}

/** Service codes that get faults. `HEALTHY_CODE` never gets one. */
export const FAULTY_CODES = ['ALPHA', 'BETA', 'GAMMA'] as const;
export const HEALTHY_CODE = 'SOUND';
export const SOAK_CODES = [...FAULTY_CODES, HEALTHY_CODE] as const;
export type SoakCode = (typeof SOAK_CODES)[number];

export const SECRET = 'soak-horse-battery-staple';
export const INTERVAL_MS = 1500;
/** Speed of the simulated service's clock, so that many users and tasks start and end within minutes. */
export const SPEED_FACTOR = 40;
export const USERS = 200;
export const TASKS = 40;

/** Creates a seeded generator of numbers from 0 up to but excluding 1 (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
