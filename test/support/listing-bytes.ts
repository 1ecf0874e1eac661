import type { Freeze } from '../../src/simulator/freeze.ts';
import type { World } from '../../src/simulator/world.ts';

/** Bytes by task, or by output within it, of one listing. */
export type ListedBytes = ReadonlyMap<string, number>;

/** The byte counts that one listing holds. */
export interface ListingBytes {
  readonly inputs: ListedBytes;
  readonly outputs: ListedBytes;
}

/** What the listing of a moment says; `isListed` tells by their place which tasks are in it. */
export function bytesListed(
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
 * How many bytes flowed from the first of some listings to the last, and how many tasks came and went, as far as they
 * tell. Of each count of bytes the last value is kept for good.
 */
export class ByteGrowth {
  readonly #last = { inputs: new Map<string, number>(), outputs: new Map<string, number>() };
  /** The listing before, by its tasks. */
  #before: ListedBytes | undefined;
  input = 0;
  output = 0;
  started = 0;
  ended = 0;

  /** Takes the next good listing; the first is the baseline. */
  note({ inputs, outputs }: ListingBytes): void {
    const gained = [grow(this.#last.inputs, inputs), grow(this.#last.outputs, outputs)] as const;
    const before = this.#before;
    this.#before = inputs;
    if (before === undefined) return;
    this.input += gained[0];
    this.output += gained[1];
    this.started += missing(before, inputs);
    this.ended += missing(inputs, before);
  }
}

/** How many of the tasks of one listing another does not have. */
function missing(from: ListedBytes, tasks: ListedBytes): number {
  return [...tasks.keys()].filter((id) => !from.has(id)).length;
}

function grow(last: Map<string, number>, now: ListedBytes): number {
  let growth = 0;
  for (const [key, bytes] of now) {
    growth += bytes - (last.get(key) ?? 0);
    last.set(key, bytes);
  }
  return growth;
}
