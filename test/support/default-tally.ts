import { Tally, type TallyOptions } from '../../src/tally/tally.ts';

/** A tally as an exporter has it by default, without single tasks. */
export const DEFAULT_TALLY: Omit<TallyOptions, 'serviceCode'> = {
  maxLabelSets: 2000,
  maxStreamRate: 12.5e6,
  stallAfterMs: 60_000,
  pollIntervalMs: 15_000,
  perTask: false,
  maxTasks: 0,
};

export function createDefaultTally(serviceCode = 'T'): Tally {
  return new Tally({ serviceCode, ...DEFAULT_TALLY });
}
