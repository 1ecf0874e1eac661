import { selectFreezes, type Freeze } from './freeze.ts';
import { hashText, mixHash } from './hash.ts';
import { createPopulation, listTaskLifetimes, type Population } from './population.ts';
import { computeHttpOutputBytes, createTaskSpec, integrateUntil, type TaskSpec } from './task-spec.ts';
import {
  computeActiveMs,
  generateTasksAt,
  generateUsersAt,
  type SimulatedTask,
  type SimulatedUser,
} from './records.ts';

/** The mean numbers of online users and of live tasks. */
export interface PopulationSize {
  readonly users: number;
  readonly tasks: number;
}

export interface WorldOptions extends PopulationSize {
  readonly seed: number;
  /** When the byte totals of the service start, in milliseconds since the epoch. Listings of any time exist. */
  readonly startedAtMs: number;
  /** Names of live tasks of every service code that never end. */
  readonly streams?: readonly string[];
  /** Sizes of the service codes that differ from `users` and `tasks`. */
  readonly sizes?: ReadonlyMap<string, PopulationSize>;
}

/**
 * The users and tasks of the service: a pure function of the options, the service code, and the time in whole
 * milliseconds since the epoch. Nothing is stored, so a million users take no memory.
 *
 * `freezes`, in order of `fromMs`, are the intervals in which tasks receive and deliver nothing.
 */
export interface World {
  readonly startedAtMs: number;
  users(serviceCode: string, timeMs: number): Iterable<SimulatedUser>;
  tasks(serviceCode: string, timeMs: number, freezes?: readonly Freeze[]): Iterable<SimulatedTask>;
  /** Bytes that tasks received in an interval, including tasks that existed during a part of it. */
  inputBytesPushed(serviceCode: string, fromMs: number, toMs: number, freezes?: readonly Freeze[]): number;
  /** Bytes that tasks delivered over HTTP in an interval, including tasks that existed during a part of it. */
  httpOutputBytesPushed(
    serviceCode: string,
    fromMs: number,
    toMs: number,
    freezes?: readonly Freeze[],
  ): number;
}

/** Creates the world of a seed. */
export function createWorld(options: WorldOptions): World {
  const usersOf = (serviceCode: string) => createPopulationFor(options, serviceCode, 'users');
  const tasksOf = (serviceCode: string) => createPopulationFor(options, serviceCode, 'tasks');
  return {
    startedAtMs: options.startedAtMs,
    users: (serviceCode, timeMs) => generateUsersAt(usersOf(serviceCode), serviceCode, timeMs),
    tasks: (serviceCode, timeMs, freezes = []) =>
      generateTasksAt(tasksOf(serviceCode), serviceCode, timeMs, freezes),
    inputBytesPushed: (serviceCode, fromMs, toMs, freezes = []) =>
      computeBytesPushed(tasksOf(serviceCode), { serviceCode, fromMs, toMs, freezes }, computeInputBytes),
    httpOutputBytesPushed: (serviceCode, fromMs, toMs, freezes = []) =>
      computeBytesPushed(tasksOf(serviceCode), { serviceCode, fromMs, toMs, freezes }, computeOutputBytes),
  };
}

function createPopulationFor(
  options: WorldOptions,
  serviceCode: string,
  kind: keyof PopulationSize,
): Population {
  const size = options.sizes?.get(serviceCode) ?? options;
  const seed = mixHash(hashText(options.seed, serviceCode), kind === 'users' ? 1 : 2);
  return createPopulation(seed, options.startedAtMs, size[kind], kind === 'tasks' ? options.streams : []);
}

interface Interval {
  readonly serviceCode: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly freezes: readonly Freeze[];
}

/** Sums the growth of `bytesAt` in an interval over all tasks that existed during a part of it. */
function computeBytesPushed(
  population: Population,
  { serviceCode, fromMs, toMs, freezes }: Interval,
  bytesAt: (spec: TaskSpec, ageMs: number) => number,
): number {
  let total = 0;
  for (let slot = 0; slot < population.slotCount; slot += 1) {
    for (const lifetime of listTaskLifetimes(population, slot, fromMs, toMs)) {
      const spec = createTaskSpec(population, lifetime);
      const own = selectFreezes(freezes, serviceCode, spec);
      total +=
        bytesAt(spec, computeActiveMs(lifetime, own, toMs)) -
        bytesAt(spec, computeActiveMs(lifetime, own, fromMs));
    }
  }
  return total;
}

function computeInputBytes(spec: TaskSpec, ageMs: number): number {
  return integrateUntil(spec.inputRate, ageMs);
}

function computeOutputBytes(spec: TaskSpec, ageMs: number): number {
  return spec.outputs.reduce((sum, output) => sum + computeHttpOutputBytes(output, ageMs), 0);
}
