import { Tally } from '../../src/tally/tally.ts';

/** A tally as an exporter has it by default, without single tasks. */
export function bareTally(): Tally {
  return new Tally({
    serviceCode: 'T',
    maxLabelSets: 1000,
    stallAfterMs: 60_000,
    perTask: false,
    maxTasks: 0,
  });
}
