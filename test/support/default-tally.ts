import { DEFAULT_MAX_LABEL_SETS, Tally } from '../../src/tally/tally.ts';

/** A tally as an exporter has it by default, without single tasks. */
export function createDefaultTally(serviceCode = 'T'): Tally {
  return new Tally({
    serviceCode,
    maxLabelSets: DEFAULT_MAX_LABEL_SETS,
    stallAfterMs: 60_000,
    pollIntervalMs: 15_000,
    perTask: false,
    maxTasks: 0,
  });
}
