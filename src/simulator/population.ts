import { fraction, integerIn, mix, pick } from './hash.ts';
import { taskCycles, userPeriodMs } from './repertoire.ts';

/**
 * Slots: a population is a fixed number of slots, each of which goes through cycles of a length of its own. What a
 * slot holds in its n-th cycle follows from (seed, slot, n), so any moment can be computed without its past.
 */
export interface Population {
  readonly seed: number;
  /** When cycle counting starts; slots are somewhere within a cycle then. */
  readonly startedAtMs: number;
  readonly slots: number;
  /** The share of slots, or of a slot's time, that is taken: `slots × share` is the mean size. */
  readonly share: number;
}

/** One task's life: the half-open interval from `bornAtMs` to `diesAtMs`. */
export interface TaskLife {
  readonly slot: number;
  readonly generation: number;
  readonly seed: number;
  readonly bornAtMs: number;
  readonly diesAtMs: number;
}

interface Cycle {
  readonly lengthMs: number;
  /** When cycle 0 began. */
  readonly originMs: number;
}

/** A population of a given mean size, with a quarter more slots than that. */
export function createPopulation(seed: number, startedAtMs: number, size: number): Population {
  const slots = Math.ceil(size * 1.25);
  return { seed, startedAtMs, slots, share: slots === 0 ? 0 : size / slots };
}

/** The hash that makes up the user in a slot at a moment, or `undefined` while nobody is online there. */
export function userSeedAt(population: Population, slot: number, timeMs: number): number | undefined {
  const slotSeed = mix(population.seed, slot);
  const cycle = cycleOf(slotSeed, population.startedAtMs, userPeriodMs);
  const seed = mix(slotSeed, cycleIndex(cycle, timeMs));
  return fraction(mix(seed, 1)) < population.share ? seed : undefined;
}

/** The task alive in a slot at a moment, if there is one. */
export function taskLifeAt(population: Population, slot: number, timeMs: number): TaskLife | undefined {
  const [life] = taskLivesWithin(population, slot, timeMs, timeMs + 1);
  return life;
}

/** The tasks of a slot whose lives touch the half-open interval, oldest first. */
export function* taskLivesWithin(
  population: Population,
  slot: number,
  fromMs: number,
  toMs: number,
): Generator<TaskLife, void, undefined> {
  const slotSeed = mix(population.seed, slot);
  const cycle = cycleOf(slotSeed, population.startedAtMs, pick(taskCycles, mix(slotSeed, -3)));
  for (let generation = cycleIndex(cycle, fromMs); ; generation += 1) {
    const bornAtMs = cycle.originMs + generation * cycle.lengthMs;
    if (bornAtMs >= toMs) return;
    const seed = mix(slotSeed, generation);
    const diesAtMs = bornAtMs + lifetimeMs(population.share, cycle.lengthMs, seed);
    if (diesAtMs > fromMs) yield { slot, generation, seed, bornAtMs, diesAtMs };
  }
}

function cycleOf(
  slotSeed: number,
  startedAtMs: number,
  [shortest, longest]: readonly [number, number],
): Cycle {
  const lengthMs = integerIn(mix(slotSeed, -1), shortest, longest);
  return { lengthMs, originMs: startedAtMs - integerIn(mix(slotSeed, -2), 0, lengthMs) };
}

function cycleIndex(cycle: Cycle, timeMs: number): number {
  return Math.floor((timeMs - cycle.originMs) / cycle.lengthMs);
}

/** A task lives for a part of its cycle that spreads around the population's share, and leaves a gap after it. */
function lifetimeMs(share: number, cycleMs: number, seed: number): number {
  const spread = 0.95 * Math.min(share, 1 - share);
  return Math.floor(cycleMs * (share + spread * (2 * fraction(mix(seed, 1)) - 1)));
}
