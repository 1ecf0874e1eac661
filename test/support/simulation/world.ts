import type { Random } from '../random.ts';

/**
 * The rate of `ledger.max_stream_rate` in the simulation, in bytes per second. Streams stay below 60 % of it.
 */
export const STREAM_RATE = 1e6;
const MAX_RATE = 0.6 * STREAM_RATE;
const FILE_RATE_FACTOR = 10;

/** The lifetime value that tasks have which were there before the exporter. */
const MAX_LIFETIME_BYTES = 75e9;

/** Names that tasks can have, as `opaque`. */
export const NAMES = ['main', 'backup', 'guest'];

export type Direction = 'input' | 'output';

/** What the service meters: an input or an output. */
export interface Metered {
  readonly direction: Direction;
  /** Outputs of one name are told apart by their values alone. */
  readonly name: string;
  readonly rate: number;
  /** What the exporter believes that it can carry, in bytes per second. */
  readonly streamRate: number;
  /** All bytes that it has carried. */
  carried: number;
  /** What it had carried when the service began to count again. */
  forgotten: number;
  /** Listings for which the service leaves it out: a participant that left. */
  hiddenFor: number;
}

/** Where a listing shows the input bytes of a task. */
type InputSource = 'task' | 'inputs';

export interface SimulatedTask {
  readonly id: string;
  readonly serviceCode: string;
  readonly startedMs: number;
  /** Whether the service lists its inputs, and can show the bytes of each. */
  readonly hasInputs: boolean;
  readonly isFile: boolean;
  readonly metered: readonly Metered[];
  source: InputSource;
  server: string;
  name: string | undefined;
  /** Listings for which the service leaves it out. */
  hiddenFor: number;
  /** Whether the exporter may have seen that it is faster than a stream. */
  hasLeapt: boolean;
  isOver: boolean;
}

/** What a listing says of a task. */
export interface Entry {
  readonly task: SimulatedTask;
  readonly server: string;
  readonly source: InputSource;
  readonly name: string | undefined;
  /** By the index of `metered`; `undefined` for what is not listed. */
  readonly values: readonly (number | undefined)[];
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
  start(serviceCode: string, ageMs: number): void {
    const random = this.#random;
    this.#taskCount += 1;
    const hasInputs = random.chance(0.25);
    const isFile = random.chance(0.1);
    const isOld = ageMs > 60 * 60 * 1000;
    const create = (direction: Direction, name: string): Metered => {
      const factor = isFile && direction === 'input' ? FILE_RATE_FACTOR : 1;
      const rate = factor * (1000 + random.integer(MAX_RATE - 1000));
      const bytes = isOld ? 2e9 + random.integer(MAX_LIFETIME_BYTES) : Math.floor((rate * ageMs) / 1000);
      return {
        direction,
        name,
        rate,
        streamRate: factor * STREAM_RATE,
        carried: bytes,
        forgotten: 0,
        hiddenFor: 0,
      };
    };
    const inputCount = hasInputs ? 1 + random.integer(2) : 1;
    const inputs = Array.from({ length: inputCount }, (_, index) => create('input', `input-${index}`));
    const hasEqualOutputs = random.chance(0.2);
    const outputs = Array.from({ length: random.integer(3) }, (_, index) =>
      create('output', hasEqualOutputs ? 'output' : `output-${index}`),
    );
    this.tasks.push({
      id: `task-${this.#taskCount}`,
      serviceCode,
      startedMs: this.nowMs - ageMs,
      hasInputs,
      isFile,
      metered: [...inputs, ...outputs],
      source: hasInputs ? 'inputs' : 'task',
      server: random.pick(this.servers),
      name: random.pick([...NAMES, undefined]),
      hiddenFor: 0,
      hasLeapt: false,
      isOver: false,
    });
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
  const { server, source, name, metered } = task;
  const values = metered.map(({ direction, carried, forgotten, hiddenFor }) => {
    const isListed = hiddenFor === 0 || (direction === 'input' && source === 'task');
    return isListed ? carried - forgotten : undefined;
  });
  return { task, server, source, name, values, isTrue: true };
}

export function hasBegunAgain({ metered }: SimulatedTask): boolean {
  return metered.some(({ forgotten }) => forgotten > 0);
}

/** Outputs of one name: a wrong value of one could be taken for the other. */
export function hasEqualParts({ metered }: SimulatedTask): boolean {
  return new Set(metered.map(({ name }) => name)).size < metered.length;
}

/** Writes a listing as the service would. */
export function writeListing(entries: readonly Entry[], users: number): string {
  return JSON.stringify({
    ret: 0,
    user_list: Array.from({ length: users }, () => ({ vs_id: 'v1', client_version: '1', device_type: '10' })),
    task_list: entries.map(toRecord),
  });
}

function toRecord({ task, server, source, name: opaque, values }: Entry): object {
  const { id, hasInputs, isFile, metered } = task;
  const parts = metered.map(({ direction, name }, index) => ({ direction, name, bytes: values[index] }));
  const inputs = parts.filter(({ direction, bytes }) => direction === 'input' && bytes !== undefined);
  const outputs = parts.filter(({ direction, bytes }) => direction === 'output' && bytes !== undefined);
  const inputBytes = inputs.reduce((sum, { bytes = 0 }) => sum + bytes, 0);
  return {
    id,
    vs_id: server,
    opaque,
    progress: isFile ? 0.5 : 0,
    ...(source === 'task' ? { input_bytes: Math.min(inputBytes, Number.MAX_SAFE_INTEGER) } : {}),
    inputs: hasInputs
      ? inputs.map(({ name, bytes }) => ({
          url: `rtmp://example/${name}`,
          ...(source === 'inputs' ? { input_bytes: bytes } : {}),
        }))
      : [],
    outputs: outputs.map(({ name, bytes }) => ({
      format: 'hls',
      file_name: `${name}.m3u8`,
      http_output_bytes: bytes,
      http_connections_num: 1,
    })),
  };
}
