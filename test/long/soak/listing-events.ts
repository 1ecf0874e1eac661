import type { SimulatedTask } from '../../../src/simulator/records.ts';

type SimulatedOutput = SimulatedTask['outputs'][number];

type SimulatedInput = SimulatedTask['inputs'][number];

/** A task as listed after events: a merge has byte counts on its inputs instead of a total. */
export type DisturbedTask = Omit<SimulatedTask, 'input_bytes' | 'inputs'> & {
  readonly input_bytes?: number;
  readonly inputs: readonly (SimulatedInput & { readonly input_bytes?: number })[];
};

/** Maximum number of consecutive listings without a hidden server. */
const MAX_HIDDEN_LISTINGS = 4;

/** Resets of a byte counter: its true value at the last reset, and the number of resets. */
interface CounterState {
  base: number;
  generation: number;
}

/**
 * Valid but difficult changes between the listings of one service code: servers disappear and return, merges have no total
 * and their inputs leave and return, tags and file names change, and counters restart at 0.
 */
export class ListingEvents {
  readonly #random: () => number;
  readonly #counters = new Map<string, CounterState>();
  readonly #absentInputs = new Set<string>();
  #hidden: { readonly vsId: string; listings: number } | undefined;
  #listingCount = 0;
  /** If set, listings contain every task and input, and only byte counts change. */
  isCalm = false;
  /** Number of events so far. */
  count = 0;

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Applies random events to the tasks of the next listing. */
  apply(tasks: readonly SimulatedTask[]): readonly DisturbedTask[] {
    this.#listingCount += 1;
    this.#changeHiddenServer(tasks);
    return tasks
      .filter(({ vs_id: vsId }) => this.isCalm || vsId !== this.#hidden?.vsId)
      .map((task) => this.#changeTask(task));
  }

  /** Hides no server in the first two listings: a task first seen later would count its whole lifetime as growth. */
  #changeHiddenServer(tasks: readonly SimulatedTask[]): void {
    if (this.#hidden !== undefined && (this.#hidden.listings -= 1) <= 0) this.#hidden = undefined;
    if (this.#listingCount < 3 || this.#hidden !== undefined || !this.#happens(0.05)) return;
    const [vsId] = this.#shuffle([...new Set(tasks.map((task) => task.vs_id))]);
    if (vsId !== undefined)
      this.#hidden = { vsId, listings: 1 + Math.floor(this.#random() * MAX_HIDDEN_LISTINGS) };
  }

  #changeTask(task: SimulatedTask): DisturbedTask {
    const outputs = this.#shuffle(task.outputs.map((output) => this.#changeOutput(task.id, output)));
    if (task.inputs.length === 1)
      return { ...task, outputs, input_bytes: this.#show(task.id, task.input_bytes, 0.01).bytes };
    const { input_bytes: total, ...rest } = task;
    const inputs = rest.inputs.flatMap((input, index) => {
      const key = `${task.id} ${index}`;
      // The first input always stays: a merge without inputs would have no bytes.
      if (index > 0 && this.#happens(0.1)) if (!this.#absentInputs.delete(key)) this.#absentInputs.add(key);
      if (!this.isCalm && this.#absentInputs.has(key)) return [];
      return [{ ...input, input_bytes: Math.floor(total / (index + 2)) }];
    });
    return { ...rest, inputs: this.#shuffle(inputs), outputs };
  }

  #changeOutput(taskId: string, output: SimulatedOutput): SimulatedOutput {
    const shown = this.#show(`${taskId} ${output.file_name}`, output.http_output_bytes, 0.02);
    const tag = this.#listingCount % 3 === 0 ? `${output.tag}-${this.#listingCount % 5}` : output.tag;
    // Every second reset also changes the file name.
    const suffix = shown.generation > 1 ? `-${Math.floor(shown.generation / 2)}` : '';
    return { ...output, tag, file_name: output.file_name + suffix, http_output_bytes: shown.bytes };
  }

  /** Returns the value of a counter since its last reset, and resets it first with the given probability. */
  #show(
    key: string,
    bytes: number,
    resetProbability: number,
  ): { readonly bytes: number; readonly generation: number } {
    const state = this.#counters.get(key) ?? { base: 0, generation: 0 };
    this.#counters.set(key, state);
    if (this.#happens(resetProbability)) {
      state.base = bytes;
      state.generation += 1;
    }
    return { bytes: bytes - state.base, generation: state.generation };
  }

  #happens(probability: number): boolean {
    if (this.isCalm || this.#listingCount < 2 || this.#random() >= probability) return false;
    this.count += 1;
    return true;
  }

  #shuffle<Item>(items: readonly Item[]): Item[] {
    return items
      .map((item): [number, Item] => [this.#random(), item])
      .toSorted(([a], [b]) => a - b)
      .map(([, item]) => item);
  }
}
