import type { Freeze } from '../../src/simulator/freeze.ts';
import type { SimulatedTask } from '../../src/simulator/records.ts';
import type { World } from '../../src/simulator/world.ts';

/** Bytes by task, by input of a merge, or by output. */
export type ByteCounts = ReadonlyMap<string, number>;

/** The tasks and the byte counts of one listing. */
export interface ListingBytes {
  readonly tasks: ReadonlySet<string>;
  readonly inputs: ByteCounts;
  readonly outputs: ByteCounts;
}

/** A task whose inputs may have byte counts. */
type CountedTask = Pick<SimulatedTask, 'id' | 'outputs'> & {
  readonly input_bytes?: number;
  readonly inputs: readonly { readonly user_name: string; readonly input_bytes?: number }[];
};

/** Reads the byte counts of the listing at a time. `isListed` selects tasks by their index. */
export function readListingBytes(
  world: Pick<World, 'tasks'>,
  serviceCode: string,
  timeMs: number,
  freezes: readonly Freeze[],
  isListed: (index: number) => boolean = () => true,
): ListingBytes {
  return countBytes([...world.tasks(serviceCode, timeMs, freezes)].filter((_, index) => isListed(index)));
}

/** Reads the byte counts of tasks. */
export function countBytes(tasks: readonly CountedTask[]): ListingBytes {
  const outputs = tasks.flatMap((task) => task.outputs);
  return {
    tasks: new Set(tasks.map(({ id }) => id)),
    inputs: new Map(tasks.flatMap(listInputBytes)),
    outputs: new Map(outputs.map((output) => [output.file_name, output.http_output_bytes])),
  };
}

function listInputBytes({ id, input_bytes: total, inputs }: CountedTask): [string, number][] {
  if (total !== undefined) return [[id, total]];
  return inputs.map(({ user_name: name, input_bytes: bytes = 0 }) => [`${id} ${name}`, bytes]);
}

/**
 * Sums the growth of byte counts, and counts started and ended tasks, from the first listing to the last. A task that returns
 * after an absence does not start or end again.
 */
export class ByteGrowth {
  readonly #last = { inputs: new Map<string, number>(), outputs: new Map<string, number>() };
  readonly #endedTasks: Set<string>;
  #previousTasks: ReadonlySet<string> | undefined;
  input = 0;
  output = 0;
  started = 0;
  ended = 0;
  /** Number of tasks that returned after their end was counted. */
  returned = 0;

  /** `endedTasks` contains tasks whose end was already counted; this object adds to it. */
  constructor(endedTasks = new Set<string>()) {
    this.#endedTasks = endedTasks;
  }

  /** Adds the listing of the next successful poll. The first listing is the baseline. */
  recordListing({ tasks, inputs, outputs }: ListingBytes): void {
    const previous = this.#previousTasks;
    const isBaseline = previous === undefined;
    const started = [...tasks].filter((id) => previous?.has(id) !== true && !this.#endedTasks.has(id));
    const ended = [...(previous ?? [])].filter((id) => !tasks.has(id) && !this.#endedTasks.has(id));
    this.returned += [...tasks].filter((id) => !previous?.has(id) && this.#endedTasks.has(id)).length;
    const input = addGrowth(this.#last.inputs, inputs);
    const output = addGrowth(this.#last.outputs, outputs);
    this.#previousTasks = tasks;
    if (isBaseline) return;
    this.input += input;
    this.output += output;
    this.started += started.length;
    this.ended += ended.length;
    for (const id of ended) this.#endedTasks.add(id);
  }
}

function addGrowth(last: Map<string, number>, now: ByteCounts): number {
  let growth = 0;
  for (const [key, bytes] of now) {
    const previous = last.get(key) ?? 0;
    // A smaller value is a reset.
    growth += bytes >= previous ? bytes - previous : bytes;
    last.set(key, bytes);
  }
  return growth;
}
