import { finalizeHash, mixHash, pickWeighted, toFraction, toIntegerIn } from './hash.ts';
import { TASK_CYCLE_RANGES_MS, USER_PERIOD_RANGE_MS } from './profiles.ts';

/**
 * Slots, each of which repeats cycles of its own length. The content of a slot in its n-th cycle is a
 * function of (seed, slot, n), so any moment can be computed without its past.
 */
export interface Population {
  readonly seed: number;
  /** The time from which cycles are counted. Slots are somewhere within a cycle then. */
  readonly startedAtMs: number;
  /** The mean number of occupied slots. There are a quarter more slots than that. */
  readonly size: number;
}

/** Age of streams when the population starts. */
const STREAM_AGE_MS = 60 * 60 * 1000;

/** A task and the half-open interval of its existence. */
export interface TaskLifetime {
  readonly seed: number;
  /** 16 hex digits that no other task of the population has. */
  readonly uniqueId: string;
  /** The name of a task that never ends; absent for others. */
  readonly stream?: string;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

/** Lists the seeds of the users that are online at a time. */
export function* listUserSeeds(population: Population, timeMs: number): Generator<number, void, undefined> {
  const { count, occupancy } = countSlots(population);
  for (let slot = 0; slot < count; slot += 1) {
    const slotSeed = mixHash(population.seed, slot);
    const { lengthMs, startedAtMs } = createCycle(population, slotSeed, USER_PERIOD_RANGE_MS);
    const seed = mixHash(slotSeed, Math.floor((timeMs - startedAtMs) / lengthMs));
    if (toFraction(mixHash(seed, 1)) < occupancy) yield seed;
  }
}

/** Lists the tasks that exist during a part of the half-open interval, and after them the streams. */
export function* listTaskLifetimes(
  population: Population,
  streams: readonly string[],
  fromMs: number,
  toMs: number,
): Generator<TaskLifetime, void, undefined> {
  const { count, occupancy } = countSlots(population);
  for (let slot = 0; slot < count; slot += 1) {
    const slotSeed = mixHash(population.seed, slot);
    const range = pickWeighted(TASK_CYCLE_RANGES_MS, mixHash(slotSeed, -3));
    const cycle = createCycle(population, slotSeed, range);
    for (let generation = Math.floor((fromMs - cycle.startedAtMs) / cycle.lengthMs); ; generation += 1) {
      const startsAtMs = cycle.startedAtMs + generation * cycle.lengthMs;
      if (startsAtMs >= toMs) break;
      const seed = mixHash(slotSeed, generation);
      const endsAtMs = startsAtMs + computeLifetimeMs(occupancy, cycle.lengthMs, seed);
      if (endsAtMs > fromMs)
        yield { seed, uniqueId: createUniqueId(population, slot, generation), startsAtMs, endsAtMs };
    }
  }
  const startsAtMs = population.startedAtMs - STREAM_AGE_MS;
  if (startsAtMs >= toMs) return;
  for (const [index, stream] of streams.entries()) {
    const slot = count + index;
    const uniqueId = createUniqueId(population, slot, 0);
    yield { seed: mixHash(population.seed, slot), uniqueId, stream, startsAtMs, endsAtMs: Infinity };
  }
}

function countSlots({ size }: Population) {
  const count = Math.ceil(size * 1.25);
  return { count, occupancy: count === 0 ? 0 : size / count };
}

function createCycle(
  population: Population,
  slotSeed: number,
  [shortest, longest]: readonly [number, number],
) {
  const lengthMs = toIntegerIn(mixHash(slotSeed, -1), shortest, longest);
  return { lengthMs, startedAtMs: population.startedAtMs - toIntegerIn(mixHash(slotSeed, -2), 0, lengthMs) };
}

/**
 * A task lives for a part of its cycle that spreads around the population's share, and leaves a gap after it.
 */
function computeLifetimeMs(share: number, cycleMs: number, seed: number): number {
  const spread = 0.95 * Math.min(share, 1 - share);
  return Math.floor(cycleMs * (share + spread * (2 * toFraction(mixHash(seed, 1)) - 1)));
}

/** The first half identifies the slot and the second the generation: both hashes are bijections. */
function createUniqueId({ seed }: Population, slot: number, generation: number): string {
  const slotHalf = finalizeHash(slot ^ seed);
  const generationHalf = finalizeHash(generation ^ slotHalf);
  return [slotHalf, generationHalf].map((half) => half.toString(16).padStart(8, '0')).join('');
}
