import type { Observation } from './observation.ts';

/** What an observation suggests to try; `undefined` where it suggests nothing. */
export type Hint = (observation: Observation) => string | undefined;
