import type { Freeze } from './freeze.ts';
import { hashText, mixHash } from './hash.ts';
import { listTaskLifetimes, listUserSeeds, type Population } from './population.ts';
import { createTask, createUser, type SimulatedTask, type SimulatedUser } from './records.ts';

/** The mean numbers of online users and of live tasks. */
export interface PopulationSize {
  readonly users: number;
  readonly tasks: number;
}

export interface WorldOptions extends PopulationSize {
  readonly seed: number;
  /** When slots are within their first cycle, in milliseconds since the epoch. Listings of any time exist. */
  readonly startedAtMs: number;
  /** Names of live tasks of every service code that never end. */
  readonly streams?: readonly string[];
  /** Sizes of the service codes that differ from `users` and `tasks`. */
  readonly sizes?: ReadonlyMap<string, PopulationSize>;
}

/** The users and tasks of the service. */
export type World = ReturnType<typeof createWorld>;

/**
 * Creates the world of a seed: a pure function of the options, the service code, and the time in whole
 * milliseconds since the epoch. Nothing is stored, so a million users take no memory.
 *
 * `freezes`, in order of `fromMs`, are the intervals in which tasks receive and deliver nothing.
 */
export function createWorld(options: WorldOptions) {
  const { startedAtMs, streams = [] } = options;
  const populationOf = (serviceCode: string, kind: keyof PopulationSize): Population => ({
    seed: mixHash(hashText(options.seed, serviceCode), kind === 'users' ? 1 : 2),
    startedAtMs,
    size: (options.sizes?.get(serviceCode) ?? options)[kind],
  });
  const listLifetimes = (serviceCode: string, fromMs: number, toMs: number) =>
    listTaskLifetimes(populationOf(serviceCode, 'tasks'), streams, fromMs, toMs);
  return {
    *users(serviceCode: string, timeMs: number): Generator<SimulatedUser, void, undefined> {
      for (const seed of listUserSeeds(populationOf(serviceCode, 'users'), timeMs))
        yield createUser(serviceCode, seed);
    },
    *tasks(
      serviceCode: string,
      timeMs: number,
      freezes: readonly Freeze[] = [],
    ): Generator<SimulatedTask, void, undefined> {
      for (const lifetime of listLifetimes(serviceCode, timeMs, timeMs + 1))
        yield createTask(serviceCode, lifetime, timeMs, freezes);
    },
    /** Sums the bytes of an interval over all tasks that existed during a part of it. */
    bytesPushed(serviceCode: string, fromMs: number, toMs: number, freezes: readonly Freeze[] = []) {
      const bytes = { input: 0, httpOutput: 0 };
      for (const lifetime of listLifetimes(serviceCode, fromMs, toMs)) {
        const before = createTask(serviceCode, lifetime, fromMs, freezes);
        const after = createTask(serviceCode, lifetime, toMs, freezes);
        bytes.input += after.input_bytes - before.input_bytes;
        bytes.httpOutput += sumOutputBytes(after) - sumOutputBytes(before);
      }
      return bytes;
    },
  };
}

function sumOutputBytes({ outputs }: SimulatedTask): number {
  return outputs.reduce((sum, output) => sum + output.http_output_bytes, 0);
}
