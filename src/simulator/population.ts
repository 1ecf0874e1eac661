import { toFraction, toIntegerIn, mixHash, pickWeighted } from './hash.ts';
import { TASK_CYCLE_RANGES_MS, USER_PERIOD_RANGE_MS } from './profiles.ts';

/**
 * A fixed number of slots, each of which repeats cycles of its own length. The content of a slot in its n-th cycle
 * is a function of (seed, slot, n), so any moment can be computed without its past.
 */
export interface Population {
  readonly seed: number;
  /** The time from which cycles are counted. Slots are somewhere within a cycle then. */
  readonly startedAtMs: number;
  readonly slotCount: number;
  /** The share of slots that are occupied, without those of streams. */
  readonly occupancy: number;
  /** Names of tasks that never end: those of the last slots. */
  readonly streams: readonly string[];
}

/** Age of streams when the population starts. */
const STREAM_AGE_MS = 60 * 60 * 1000;

/** The half-open interval of a task's existence. */
export interface TaskLifetime {
  readonly slot: number;
  readonly generation: number;
  readonly seed: number;
  readonly startsAtMs: number;
  readonly endsAtMs: number;
}

interface Cycle {
  readonly lengthMs: number;
  /** The start of cycle 0. */
  readonly startedAtMs: number;
}

/** Creates a population of a mean size, with a quarter more slots than that, and of streams. */
export function createPopulation(
  seed: number,
  startedAtMs: number,
  size: number,
  streams: readonly string[] = [],
): Population {
  const slots = Math.ceil(size * 1.25);
  const occupancy = slots === 0 ? 0 : size / slots;
  return { seed, startedAtMs, slotCount: slots + streams.length, occupancy, streams };
}

/** The name of the stream in a slot, if it is the slot of one. */
export function findStream({ slotCount, streams }: Population, slot: number): string | undefined {
  return streams[slot - slotCount + streams.length];
}

/** Finds the seed of the user in a slot at a time; `undefined` while the slot is empty. */
export function findUserSeedAt(population: Population, slot: number, timeMs: number): number | undefined {
  const slotSeed = mixHash(population.seed, slot);
  const cycle = createCycle(slotSeed, population.startedAtMs, USER_PERIOD_RANGE_MS);
  const seed = mixHash(slotSeed, getCycleIndex(cycle, timeMs));
  return toFraction(mixHash(seed, 1)) < population.occupancy ? seed : undefined;
}

/** Lists the tasks of a slot that exist during a part of the half-open interval, oldest first. */
export function* listTaskLifetimes(
  population: Population,
  slot: number,
  fromMs: number,
  toMs: number,
): Generator<TaskLifetime, void, undefined> {
  const slotSeed = mixHash(population.seed, slot);
  if (findStream(population, slot) !== undefined) {
    const startsAtMs = population.startedAtMs - STREAM_AGE_MS;
    if (startsAtMs < toMs) yield { slot, generation: 0, seed: slotSeed, startsAtMs, endsAtMs: Infinity };
    return;
  }
  const cycle = createCycle(
    slotSeed,
    population.startedAtMs,
    pickWeighted(TASK_CYCLE_RANGES_MS, mixHash(slotSeed, -3)),
  );
  for (let generation = getCycleIndex(cycle, fromMs); ; generation += 1) {
    const startsAtMs = cycle.startedAtMs + generation * cycle.lengthMs;
    if (startsAtMs >= toMs) return;
    const seed = mixHash(slotSeed, generation);
    const endsAtMs = startsAtMs + computeLifetimeMs(population.occupancy, cycle.lengthMs, seed);
    if (endsAtMs > fromMs) yield { slot, generation, seed, startsAtMs, endsAtMs };
  }
}

function createCycle(
  slotSeed: number,
  startedAtMs: number,
  [shortest, longest]: readonly [number, number],
): Cycle {
  const lengthMs = toIntegerIn(mixHash(slotSeed, -1), shortest, longest);
  return { lengthMs, startedAtMs: startedAtMs - toIntegerIn(mixHash(slotSeed, -2), 0, lengthMs) };
}

function getCycleIndex(cycle: Cycle, timeMs: number): number {
  return Math.floor((timeMs - cycle.startedAtMs) / cycle.lengthMs);
}

/** A task lives for a part of its cycle that spreads around the population's share, and leaves a gap after it. */
function computeLifetimeMs(share: number, cycleMs: number, seed: number): number {
  const spread = 0.95 * Math.min(share, 1 - share);
  return Math.floor(cycleMs * (share + spread * (2 * toFraction(mixHash(seed, 1)) - 1)));
}
