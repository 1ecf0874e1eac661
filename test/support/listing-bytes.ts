import type { Freeze } from '../../src/simulator/freeze.ts';
import type { World } from '../../src/simulator/world.ts';

/** Bytes by task, or by output within it, of one listing. */
export type ByteCounts = ReadonlyMap<string, number>;

/** The byte counts of one listing. */
export interface ListingBytes {
  readonly inputs: ByteCounts;
  readonly outputs: ByteCounts;
}

/** Reads the byte counts of the listing at a time. `isListed` selects tasks by their index. */
export function readListingBytes(
  world: Pick<World, 'tasks'>,
  serviceCode: string,
  timeMs: number,
  freezes: readonly Freeze[],
  isListed: (index: number) => boolean = () => true,
): ListingBytes {
  const tasks = [...world.tasks(serviceCode, timeMs, freezes)].filter((_, index) => isListed(index));
  const outputs = tasks.flatMap((task) => task.outputs);
  return {
    inputs: new Map(tasks.map((task) => [task.id, task.input_bytes])),
    outputs: new Map(outputs.map((output) => [output.file_name, output.http_output_bytes])),
  };
}

/**
 * Adds up the bytes that flowed, and the tasks that started and ended, from the first listing to the last. A task that
 * returns after an absence is the same run: it neither starts nor ends again.
 */
export class ByteGrowth {
  readonly #last = { inputs: new Map<string, number>(), outputs: new Map<string, number>() };
  readonly #endedTasks: Set<string>;
  #previousTasks: ReadonlySet<string> | undefined;
  input = 0;
  output = 0;
  started = 0;
  ended = 0;

  /** `endedTasks`: tasks whose end was counted before; this object adds to it. */
  constructor(endedTasks = new Set<string>()) {
    this.#endedTasks = endedTasks;
  }

  /** Adds the next good listing; the first is the baseline. */
  recordListing({ inputs, outputs }: ListingBytes): void {
    const isBaseline = this.#previousTasks === undefined;
    const started = [...inputs.keys()].filter(
      (id) => !this.#last.inputs.has(id) && !this.#endedTasks.has(id),
    );
    const ended = [...(this.#previousTasks ?? [])].filter(
      (id) => !inputs.has(id) && !this.#endedTasks.has(id),
    );
    const input = addGrowth(this.#last.inputs, inputs);
    const output = addGrowth(this.#last.outputs, outputs);
    this.#previousTasks = new Set(inputs.keys());
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
    growth += bytes - (last.get(key) ?? 0);
    last.set(key, bytes);
  }
  return growth;
}
