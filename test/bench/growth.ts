import { createListingBody } from './listing-body.ts';
import { measureAlternating, compare, measureCpuMs, type Comparison, type Goal } from './measure.ts';
import type { BodySize } from './polling-process.ts';
import { createTallyRun } from './reading.ts';

/** The smallest numbers of records of either kind, and how many at a time are read for a figure. */
export interface GrowthSize extends BodySize {
  readonly rounds: number;
}

const SIZE: GrowthSize = { users: 10_000, tasks: 500, rounds: 3 };
const GROWTH = [1, 10, 100] as const;
const FLAT_GOAL: Goal = { measure: 'ratio', direction: 'at most', bound: 1.3 };

/** What a user and a task cost to read and tally, in listings of which one is a hundred times as long as another. */
export async function benchGrowth(size: GrowthSize = SIZE): Promise<Comparison[]> {
  return [await benchKind('user', size.users, size.rounds), await benchKind('task', size.tasks, size.rounds)];
}

async function benchKind(kind: 'user' | 'task', records: number, rounds: number): Promise<Comparison> {
  const most = records * Math.max(...GROWTH);
  const costs = await measureAlternating(
    rounds,
    GROWTH.map((times) => createCostMeasurement(kind, records * times, most)),
  );
  const figures = {
    name: `dearest ${kind}, in listings of ${GROWTH.join(', ')} × as many`,
    unit: 'µs',
    value: Math.max(...costs),
    reference: 'cheapest',
    referenceValue: Math.min(...costs),
  };
  return compare(figures, FLAT_GOAL);
}

/** Microseconds per record; short listings are read so often that as many records are read as of the longest. */
function createCostMeasurement(kind: 'user' | 'task', records: number, most: number): () => Promise<number> {
  const body = kind === 'user' ? createListingBody(records, 0) : createListingBody(0, records);
  const take = createTallyRun(body);
  const times = Math.round(most / records);
  return async () => {
    const ms = await measureCpuMs(() => {
      for (let time = 0; time < times; time += 1) take();
    });
    return (ms * 1000) / (records * times);
  };
}
