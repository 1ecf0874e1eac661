import { sumUntil, type Flow } from './flow.ts';
import { fraction, integerIn, mix, pick, scramble } from './hash.ts';
import type { Population, TaskLife } from './lives.ts';
import {
  inputCounts,
  layouts,
  mergedLayouts,
  peakConnections,
  servers,
  sourcePictures,
  type OutputPlan,
  type Picture,
  type Server,
} from './repertoire.ts';

/** What stays the same during a task's life: who it is, and how its bytes will flow. */
export interface TaskDesign {
  readonly id: string;
  readonly seed: number;
  readonly server: Server;
  /** A file task has a progress; a live task has none. */
  readonly isFile: boolean;
  readonly inputCount: number;
  readonly source: Picture;
  /** Bytes received, per millisecond of the task's age. */
  readonly input: Flow;
  readonly outputs: readonly OutputDesign[];
}

export interface OutputDesign {
  readonly plan: OutputPlan;
  /** HTTP connections over the task's age. */
  readonly connections: Flow;
  /** Bytes that one connection takes per millisecond. */
  readonly bytesPerMs: number;
}

/** Designs the task of a life. Its id is unique among all tasks that its service code ever has. */
export function designTask(population: Population, life: TaskLife): TaskDesign {
  const { seed } = life;
  const server = pick(servers, mix(seed, 2));
  const isFile = mix(seed, 3) % 10 === 0;
  const inputCount = isFile ? 1 : pick(inputCounts, mix(seed, 4));
  const plans = pick(inputCount > 1 ? mergedLayouts : layouts, mix(seed, 5));
  const bytesPerMs = integerIn(mix(seed, 6), 125, 500);
  return {
    id: `${server.id}-${uniqueHex(population, life)}`,
    seed,
    server,
    isFile,
    inputCount,
    source: pick(sourcePictures, mix(seed, 7)),
    input: inputFlow(mix(seed, 8), bytesPerMs),
    outputs: plans.map((plan, index) => ({
      plan,
      bytesPerMs,
      connections: connectionsFlow(mix(seed, 1000 + index), plan.format),
    })),
  };
}

/** Bytes that an output has delivered over HTTP by an age in milliseconds. */
export function httpOutputBytes(output: OutputDesign, ageMs: number): number {
  return output.bytesPerMs * sumUntil(output.connections, ageMs);
}

/** 16 hex digits: the first half tells slots apart and the second half generations, as both scramble by bijections. */
function uniqueHex(population: Population, life: TaskLife): string {
  const slotHalf = scramble(life.slot ^ population.seed);
  const generationHalf = scramble(life.generation ^ slotHalf);
  return `${hex(slotHalf)}${hex(generationHalf)}`;
}

function hex(value: number): string {
  return value.toString(16).padStart(8, '0');
}

function inputFlow(seed: number, bytesPerMs: number): Flow {
  return createFlow(seed, [5_000, 15_000], (part) => Math.floor(bytesPerMs * (0.85 + 0.3 * part)));
}

function connectionsFlow(seed: number, format: OutputPlan['format']): Flow {
  const peak = pick(peakConnections[format], mix(seed, 100));
  return createFlow(seed, [20_000, 90_000], (part) => Math.floor(peak * (0.3 + 0.7 * part)));
}

function createFlow(
  seed: number,
  [shortestMs, longestMs]: readonly [number, number],
  level: (part: number) => number,
): Flow {
  return {
    stepMs: integerIn(mix(seed, 0), shortestMs, longestMs),
    levels: Array.from({ length: 8 }, (_, index) => level(fraction(mix(seed, index + 1)))),
  };
}
