import { createListingBody } from './listing-body.ts';
import { measureAlternating, compare, measureCpuMs, type Comparison, type Goal } from './measure.ts';
import type { BodySize } from './polling-process.ts';
import { createTallyRun } from './reading.ts';

/** The smallest numbers of users and tasks, and the number of rounds. */
export interface GrowthSize extends BodySize {
  readonly rounds: number;
}

const SIZE: GrowthSize = { users: 10_000, tasks: 500, rounds: 3 };
const GROWTH = [1, 10, 100] as const;
const FLAT_GOAL: Goal = { measure: 'ratio', direction: 'at most', bound: 1.3 };

/** Compares the cost of a user and of a task in listings of three sizes: it must not grow with the listing. */
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

/** Measures microseconds per record. Short listings are read repeatedly, so that each size reads the same number of records. */
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
