import { createAccount, type Account } from './account.ts';
import { sumUntil } from './flow.ts';
import { freezesOf, type Freeze } from './freeze.ts';
import { hashText, mix } from './hash.ts';
import { createPopulation, taskLivesWithin, type Population } from './lives.ts';
import { designTask, httpOutputBytes, type TaskDesign } from './task-design.ts';
import { activeMs, tasksAt, type SimulatedTask } from './tasks.ts';
import { usersAt, type SimulatedUser } from './users.ts';

/** The mean numbers of users online and of tasks alive. */
export interface Size {
  readonly users: number;
  readonly tasks: number;
}

export interface WorldOptions extends Size {
  readonly seed: number;
  /** A moment at which life is already going on, in milliseconds since the epoch. Any moment can be asked for. */
  readonly startedAtMs: number;
  /** Sizes of the service codes that differ from `users` and `tasks`. */
  readonly sizes?: ReadonlyMap<string, Size>;
}

/**
 * What the service holds at any moment: a pure function of the options, the service code, and the time in whole milliseconds
 * since the epoch. Nothing is stored, so a million users cost no memory, and asking twice gives the same answer.
 *
 * `freezes`, in order of `fromMs`, are the intervals in which tasks stand still.
 */
export interface World {
  readonly startedAtMs: number;
  users(serviceCode: string, timeMs: number): Iterable<SimulatedUser>;
  tasks(serviceCode: string, timeMs: number, freezes?: readonly Freeze[]): Iterable<SimulatedTask>;
  /** The totals of the listing at that moment. */
  account(serviceCode: string, timeMs: number, freezes?: readonly Freeze[]): Account;
  /** Bytes that tasks received in an interval, those that lived only for a part of it included. */
  inputBytesPushed(serviceCode: string, fromMs: number, toMs: number, freezes?: readonly Freeze[]): number;
  /** Bytes that tasks delivered over HTTP in an interval, those that lived only for a part of it included. */
  httpOutputBytesPushed(
    serviceCode: string,
    fromMs: number,
    toMs: number,
    freezes?: readonly Freeze[],
  ): number;
}

/** Creates the world of a seed. */
export function createWorld(options: WorldOptions): World {
  const usersOf = (serviceCode: string) => populationOf(options, serviceCode, 'users');
  const tasksOf = (serviceCode: string) => populationOf(options, serviceCode, 'tasks');
  const world: World = {
    startedAtMs: options.startedAtMs,
    users: (serviceCode, timeMs) => usersAt(usersOf(serviceCode), serviceCode, timeMs),
    tasks: (serviceCode, timeMs, freezes = []) => tasksAt(tasksOf(serviceCode), serviceCode, timeMs, freezes),
    account: (serviceCode, timeMs, freezes) =>
      createAccount(world.users(serviceCode, timeMs), world.tasks(serviceCode, timeMs, freezes)),
    inputBytesPushed: (serviceCode, fromMs, toMs, freezes = []) =>
      bytesPushed(tasksOf(serviceCode), { serviceCode, fromMs, toMs, freezes }, inputBytes),
    httpOutputBytesPushed: (serviceCode, fromMs, toMs, freezes = []) =>
      bytesPushed(tasksOf(serviceCode), { serviceCode, fromMs, toMs, freezes }, allHttpOutputBytes),
  };
  return world;
}

function populationOf(options: WorldOptions, serviceCode: string, kind: keyof Size): Population {
  const size = options.sizes?.get(serviceCode) ?? options;
  const seed = mix(hashText(options.seed, serviceCode), kind === 'users' ? 1 : 2);
  return createPopulation(seed, options.startedAtMs, size[kind]);
}

interface Interval {
  readonly serviceCode: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly freezes: readonly Freeze[];
}

/** Sums what `bytesAt` gained in the interval, over all tasks that were alive at some moment of it. */
function bytesPushed(
  population: Population,
  { serviceCode, fromMs, toMs, freezes }: Interval,
  bytesAt: (design: TaskDesign, ageMs: number) => number,
): number {
  let total = 0;
  for (let slot = 0; slot < population.slots; slot += 1) {
    for (const life of taskLivesWithin(population, slot, fromMs, toMs)) {
      const design = designTask(population, life);
      const own = freezesOf(freezes, serviceCode, design.id);
      total += bytesAt(design, activeMs(life, own, toMs)) - bytesAt(design, activeMs(life, own, fromMs));
    }
  }
  return total;
}

function inputBytes(design: TaskDesign, ageMs: number): number {
  return sumUntil(design.input, ageMs);
}

function allHttpOutputBytes(design: TaskDesign, ageMs: number): number {
  return design.outputs.reduce((sum, output) => sum + httpOutputBytes(output, ageMs), 0);
}
