import type { Random } from '../random.ts';

/** The rate of `ledger.max_stream_rate` in the simulation, in bytes per second. Streams stay below 60 % of it. */
export const STREAM_RATE = 1e6;
const MAX_RATE = 0.6 * STREAM_RATE;

/** The lifetime value that tasks have which were there before the exporter. */
const MAX_LIFETIME_BYTES = 75e9;

export type Direction = 'input' | 'output';

/** What the service meters: an input or an output. */
export interface Metered {
  readonly direction: Direction;
  readonly rate: number;
  /** All bytes that it has carried. */
  carried: number;
  /** What it had carried when the service began to count again. */
  forgotten: number;
}

export interface SimulatedTask {
  readonly id: string;
  readonly serviceCode: string;
  readonly startedMs: number;
  /** Whether the service tells the bytes of each input, and none of the task. */
  readonly hasInputs: boolean;
  readonly metered: readonly Metered[];
  server: string;
  /** Listings for which the service leaves it out. */
  hiddenFor: number;
  hasNamesake: boolean;
  isOver: boolean;
}

/** What a listing says of a task. */
export interface Entry {
  readonly task: SimulatedTask;
  readonly server: string;
  /** By the index of `metered`. */
  readonly values: readonly number[];
  /** Whether the values are those of the moment. */
  readonly isTrue: boolean;
}

/** The tasks of the service, and every byte that they carry. */
export class World {
  readonly servers = ['v1', 'v2', 'v3', 'v4'];
  nowMs: number;
  tasks: SimulatedTask[] = [];
  readonly #random: Random;
  #taskCount = 0;

  constructor(random: Random, nowMs: number) {
    this.#random = random;
    this.nowMs = nowMs;
  }

  /** Lets time pass: tasks carry bytes. */
  advance(ms: number): void {
    this.nowMs += ms;
    for (const { metered } of this.tasks)
      for (const thing of metered) thing.carried += Math.round((thing.rate * ms) / 1000);
  }

  /** Starts a task that has already run for a while, in which it may have carried a lot. */
  start(serviceCode: string, ageMs: number, namesake?: SimulatedTask): SimulatedTask {
    const random = this.#random;
    this.#taskCount += 1;
    const hasInputs = random.chance(0.25);
    const isOld = ageMs > 60 * 60 * 1000;
    const create = (direction: Direction): Metered => {
      const rate = 1000 + random.integer(MAX_RATE - 1000);
      const bytes = isOld ? 2e9 + random.integer(MAX_LIFETIME_BYTES) : Math.floor((rate * ageMs) / 1000);
      return { direction, rate, carried: bytes, forgotten: 0 };
    };
    const inputs = Array.from({ length: hasInputs ? 1 + random.integer(2) : 1 }, () => create('input'));
    const outputs = Array.from({ length: random.integer(3) }, () => create('output'));
    const servers = this.servers.filter((server) => server !== namesake?.server);
    const task: SimulatedTask = {
      id: namesake?.id ?? `task-${this.#taskCount}`,
      serviceCode,
      startedMs: this.nowMs - ageMs,
      hasInputs,
      metered: [...inputs, ...outputs],
      server: random.pick(servers),
      hiddenFor: 0,
      hasNamesake: namesake !== undefined,
      isOver: false,
    };
    if (namesake !== undefined) namesake.hasNamesake = true;
    this.tasks.push(task);
    return task;
  }

  end(task: SimulatedTask): void {
    task.isOver = true;
    this.tasks = this.tasks.filter((other) => other !== task);
  }

  listTasks(serviceCode: string): SimulatedTask[] {
    return this.tasks.filter((task) => task.serviceCode === serviceCode);
  }
}

/** What the service says of a task, if it answers with the truth. */
export function toEntry(task: SimulatedTask): Entry {
  const values = task.metered.map(({ carried, forgotten }) => carried - forgotten);
  return { task, server: task.server, values, isTrue: true };
}

/** Writes a listing as the service would. */
export function writeListing(entries: readonly Entry[], users: number): string {
  return JSON.stringify({
    ret: 0,
    user_list: Array.from({ length: users }, () => ({ vs_id: 'v1', client_version: '1', device_type: '10' })),
    task_list: entries.map(toRecord),
  });
}

function toRecord({ task: { id, hasInputs, metered }, server, values }: Entry): object {
  const parts = metered.map(({ direction }, index) => ({ direction, bytes: values[index], index }));
  const inputs = parts.filter(({ direction }) => direction === 'input');
  const outputs = parts.filter(({ direction }) => direction === 'output');
  return {
    id,
    vs_id: server,
    ...(hasInputs ? {} : { input_bytes: inputs[0]?.bytes }),
    inputs: hasInputs
      ? inputs.map(({ bytes, index }) => ({ url: `rtmp://example/${index}`, input_bytes: bytes }))
      : [],
    outputs: outputs.map(({ bytes, index }) => ({
      format: 'hls',
      file_name: `${index}.m3u8`,
      http_output_bytes: bytes,
      http_connections_num: 1,
    })),
  };
}
