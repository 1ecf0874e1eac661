import { integrateUntil } from './step-function.ts';
import { selectFreezes, type Freeze } from './freeze.ts';
import { hashText, mixHash } from './hash.ts';
import { createPopulation, listTaskLifetimes, type Population } from './population.ts';
import { createTaskSpec, computeHttpOutputBytes, type TaskSpec } from './task-spec.ts';
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

/** The totals of one listing, by the service's own field names. */
interface ListingTotals {
  /** Users by client version and device type; no zero counts. */
  readonly users: readonly {
    readonly client_version: string;
    readonly device_type: string;
    readonly count: number;
  }[];
  /** Tasks by `vs_id`. */
  readonly tasks: Readonly<Record<string, number>>;
  /** HTTP connections by output format. */
  readonly connections: Readonly<Record<string, number>>;
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
export interface World<Task = SimulatedTask> {
  readonly startedAtMs: number;
  users(serviceCode: string, timeMs: number): Iterable<SimulatedUser>;
  tasks(serviceCode: string, timeMs: number, freezes?: readonly Freeze[]): Iterable<Task>;
  /** The totals of the listing at `timeMs`. */
  computeTotals(serviceCode: string, timeMs: number, freezes?: readonly Freeze[]): ListingTotals;
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
  const populationOfUsers = (serviceCode: string) => createPopulationFor(options, serviceCode, 'users');
  const populationOfTasks = (serviceCode: string) => createPopulationFor(options, serviceCode, 'tasks');
  const world: World = {
    startedAtMs: options.startedAtMs,
    users: (serviceCode, timeMs) => generateUsersAt(populationOfUsers(serviceCode), serviceCode, timeMs),
    tasks: (serviceCode, timeMs, freezes = []) =>
      generateTasksAt(populationOfTasks(serviceCode), serviceCode, timeMs, freezes),
    computeTotals: (serviceCode, timeMs, freezes) =>
      computeListingTotals(world.users(serviceCode, timeMs), world.tasks(serviceCode, timeMs, freezes)),
    inputBytesPushed: (serviceCode, fromMs, toMs, freezes = []) =>
      computeBytesPushed(
        populationOfTasks(serviceCode),
        { serviceCode, fromMs, toMs, freezes },
        computeInputBytes,
      ),
    httpOutputBytesPushed: (serviceCode, fromMs, toMs, freezes = []) =>
      computeBytesPushed(
        populationOfTasks(serviceCode),
        { serviceCode, fromMs, toMs, freezes },
        computeAllHttpOutputBytes,
      ),
  };
  return world;
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

function computeAllHttpOutputBytes(spec: TaskSpec, ageMs: number): number {
  return spec.outputs.reduce((sum, output) => sum + computeHttpOutputBytes(output, ageMs), 0);
}

/** Adds up a listing of any size in constant memory. */
function computeListingTotals(users: Iterable<SimulatedUser>, tasks: Iterable<SimulatedTask>): ListingTotals {
  const tasksByServer: Record<string, number> = {};
  const connections: Record<string, number> = {};
  for (const task of tasks) {
    add(tasksByServer, task.vs_id, 1);
    for (const output of task.outputs) add(connections, output.format, output.http_connections_num);
  }
  return { users: countUsers(users), tasks: tasksByServer, connections };
}

function countUsers(users: Iterable<SimulatedUser>): ListingTotals['users'] {
  const counts: Record<string, number> = {};
  for (const user of users) add(counts, `${user.client_version}/${user.device_type}`, 1);
  return Object.entries(counts).map(([key, count]) => {
    const [client_version = '', device_type = ''] = key.split('/');
    return { client_version, device_type, count };
  });
}

function add(totals: Record<string, number>, key: string, amount: number): void {
  totals[key] = (totals[key] ?? 0) + amount;
}
