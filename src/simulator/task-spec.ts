import { toFraction, toIntegerIn, mixHash, pickWeighted, finalizeHash } from './hash.ts';
import { findStream, type Population, type TaskLifetime } from './population.ts';
import {
  INPUT_COUNTS,
  OUTPUT_LAYOUTS,
  MERGED_OUTPUT_LAYOUTS,
  PEAK_CONNECTIONS,
  SERVERS,
  SOURCE_RESOLUTIONS,
  type OutputProfile,
  type Resolution,
  type Server,
} from './profiles.ts';

/**
 * A periodic quantity: level 0 for `stepMs`, then level 1, and so on, then level 0 again. Its integral has a closed
 * form, so a byte counter needs no memory of the past. With integer levels and milliseconds, every sum is an integer.
 */
export interface StepFunction {
  readonly stepMs: number;
  /** The quantity per millisecond in each step. */
  readonly levels: readonly number[];
}

/** The constant properties of a task: its identity and its byte rates. */
export interface TaskSpec {
  readonly id: string;
  /** The key `room` of its `opaque`. */
  readonly name: string;
  readonly seed: number;
  readonly server: Server;
  /** A file task has a progress, a live task has none. */
  readonly isFile: boolean;
  readonly inputCount: number;
  readonly sourceResolution: Resolution;
  /** Bytes received, per millisecond of the task's age. */
  readonly inputRate: StepFunction;
  readonly outputs: readonly OutputSpec[];
}

export interface OutputSpec {
  readonly profile: OutputProfile;
  /** HTTP connections over the task's age. */
  readonly connectionCount: StepFunction;
  /** Bytes per millisecond of one connection. */
  readonly bytesPerMs: number;
}

/** Creates the specification of the task with a lifetime. Its id is unique in the history of its service code. */
export function createTaskSpec(population: Population, lifetime: TaskLifetime): TaskSpec {
  const { seed } = lifetime;
  const server = pickWeighted(SERVERS, mixHash(seed, 2));
  const stream = findStream(population, lifetime.slot);
  const isFile = stream === undefined && mixHash(seed, 3) % 10 === 0;
  const inputCount = isFile ? 1 : pickWeighted(INPUT_COUNTS, mixHash(seed, 4));
  const profiles = pickWeighted(inputCount > 1 ? MERGED_OUTPUT_LAYOUTS : OUTPUT_LAYOUTS, mixHash(seed, 5));
  const bytesPerMs = toIntegerIn(mixHash(seed, 6), 125, 500);
  return {
    id: `${server.id}-${createUniqueHex(population, lifetime)}`,
    name: stream ?? String(mixHash(seed, 22) % 1_000),
    seed,
    server,
    isFile,
    inputCount,
    sourceResolution: pickWeighted(SOURCE_RESOLUTIONS, mixHash(seed, 7)),
    inputRate: createInputRate(mixHash(seed, 8), bytesPerMs),
    outputs: profiles.map((profile, index) => ({
      profile,
      bytesPerMs,
      connectionCount: createConnectionCount(mixHash(seed, 1000 + index), profile.format),
    })),
  };
}

/** Computes the bytes that an output has delivered over HTTP at an age in milliseconds. */
export function computeHttpOutputBytes(output: OutputSpec, ageMs: number): number {
  return output.bytesPerMs * integrateUntil(output.connectionCount, ageMs);
}

/** Creates 16 hex digits. The first half identifies the slot and the second the generation: both hashes are bijections. */
function createUniqueHex(population: Population, lifetime: TaskLifetime): string {
  const slotHalf = finalizeHash(lifetime.slot ^ population.seed);
  const generationHalf = finalizeHash(lifetime.generation ^ slotHalf);
  return `${toHex(slotHalf)}${toHex(generationHalf)}`;
}

function toHex(value: number): string {
  return value.toString(16).padStart(8, '0');
}

function createInputRate(seed: number, bytesPerMs: number): StepFunction {
  return createStepFunction(seed, [5_000, 15_000], (fraction) =>
    Math.floor(bytesPerMs * (0.85 + 0.3 * fraction)),
  );
}

function createConnectionCount(seed: number, format: OutputProfile['format']): StepFunction {
  const peak = pickWeighted(PEAK_CONNECTIONS[format], mixHash(seed, 100));
  return createStepFunction(seed, [20_000, 90_000], (fraction) => Math.floor(peak * (0.3 + 0.7 * fraction)));
}

function createStepFunction(
  seed: number,
  [shortestMs, longestMs]: readonly [number, number],
  computeLevel: (fraction: number) => number,
): StepFunction {
  return {
    stepMs: toIntegerIn(mixHash(seed, 0), shortestMs, longestMs),
    levels: Array.from({ length: 8 }, (_, index) => computeLevel(toFraction(mixHash(seed, index + 1)))),
  };
}

/** Returns the level at an age in milliseconds. */
export function evaluateAt(levelFunction: StepFunction, ageMs: number): number {
  return levelFunction.levels[Math.floor(ageMs / levelFunction.stepMs) % levelFunction.levels.length] ?? 0;
}

/** Integrates from age 0 to an age in milliseconds. Never decreases as the age grows. */
export function integrateUntil(levelFunction: StepFunction, ageMs: number): number {
  const periodMs = levelFunction.stepMs * levelFunction.levels.length;
  const periods = Math.floor(ageMs / periodMs);
  let leftMs = ageMs - periods * periodMs;
  let wholePeriod = 0;
  let lastPeriod = 0;
  for (const level of levelFunction.levels) {
    wholePeriod += level * levelFunction.stepMs;
    lastPeriod += level * Math.min(leftMs, levelFunction.stepMs);
    leftMs = Math.max(0, leftMs - levelFunction.stepMs);
  }
  return periods * wholePeriod + lastPeriod;
}
