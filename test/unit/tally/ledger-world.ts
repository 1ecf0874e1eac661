import type { TaskRecord } from '../../oracle/listing/entry-records.ts';
import type { Random } from '../../support/random.ts';
import { buildInputRecord, buildOutputRecord, buildTaskRecord } from '../../support/record-builders.ts';

/* A random world of tasks that tracks the bytes that every input and output has carried. */

/** Implausible for any network, and small enough that sums of it are exact. */
const ABSURD_BYTES = 1e14;

/** A byte counter of the service. */
export class ServiceCounter {
  /** All bytes ever carried. */
  carried = 0;
  /** The value of the service's counter. A reset sets it to 0. */
  value = 0;
  /** The part of `carried` that the true totals of the model include, or that was there before the baseline. */
  reported = 0;
  /** Whether the next listings contain no valid value. */
  isHidden = false;
  /** Whether the next listing contains an implausible value. */
  isSpiking = false;

  grow(bytes: number): void {
    this.carried += bytes;
    this.value += bytes;
  }

  /** The value in a listing; `undefined` if it is missing or invalid. */
  get shown(): number | undefined {
    if (this.isHidden) return undefined;
    return this.isSpiking ? ABSURD_BYTES : this.value;
  }
}

interface WorldOutput {
  readonly format: string;
  readonly relativeDir: string;
  fileName: string;
  tag: string;
  counter: ServiceCounter;
  /** Whether another output of the task has the same identity. Such outputs neither leave nor change. */
  isShared: boolean;
  absentListings: number;
}

interface WorldInput {
  readonly identity: number;
  readonly counter: ServiceCounter;
  /** Whether another input of the task has the same URL and user. Such inputs neither leave nor change. */
  isShared: boolean;
  isPresent: boolean;
}

/** The true state of a task. */
export interface WorldTask {
  readonly id: string;
  server: string;
  /** The service's counter of all inputs. */
  readonly total: ServiceCounter;
  readonly inputs: WorldInput[];
  readonly outputs: WorldOutput[];
  reportsTotal: boolean;
  /** Whether listings contain byte counts of its inputs. */
  readonly reportsInputs: boolean;
  /** The task with its id on another server; these two never move and are never absent together. */
  twin: WorldTask | undefined;
  hiddenListings: number;
  /** Whether it was in a listing of a successful poll. */
  wasListed: boolean;
}

/** A byte count in a listing: the counter behind it, and the value that is shown. */
export interface ListedCount {
  readonly counter: ServiceCounter;
  readonly bytes: number | undefined;
}

/** A task in a listing. */
export interface ListedTask {
  readonly task: WorldTask;
  readonly record: TaskRecord;
  readonly total: ListedCount;
  readonly inputs: readonly ListedCount[];
  readonly outputs: readonly (ListedCount & { readonly format: string })[];
}

/** Optional events of a world. Tasks always start, end, move, flap, merge and change their outputs. */
export interface WorldEvents {
  /** Counters restart at 0. */
  readonly hasResets?: boolean;
  /** Tasks report their total in some listings, and only their inputs in others. */
  readonly hasSwitches?: boolean;
  /** Single listings contain an implausible value. */
  readonly hasSpikes?: boolean;
  /** Inputs and outputs of tasks neither leave nor return. */
  readonly hasFixedParts?: boolean;
  /** Tasks of one id on two servers are always listed together. */
  readonly hasFixedTwins?: boolean;
}

export const SERVERS: readonly string[] = ['s1', 's2', 's3'];
const FORMATS = ['flv', 'rtmp'];
const MAX_TASKS = 12;
const MAX_PARTS = 6;
/** Maximum growth of a counter. */
const MAX_BYTES_PER_MS = 100;
/** Maximum value of a counter before the first listing. */
const MAX_OLD_BYTES = 1e9;

export class LedgerWorld {
  readonly #random: Random;
  readonly #events: WorldEvents;
  #tasks: WorldTask[] = [];
  #nextId = 0;
  readonly #hiddenServers = new Map<string, number>();

  constructor(random: Random, events: WorldEvents) {
    this.#random = random;
    this.#events = events;
    for (let count = random.integer(5); count > 0; count -= 1) this.#startTask(true);
  }

  /** Advances the time with random events and growing counters. */
  advance(elapsedMs: number): void {
    const random = this.#random;
    if (this.#tasks.length < MAX_TASKS && random.chance(0.2)) this.#startTask(false);
    if (random.chance(0.08))
      this.#tasks = this.#tasks.filter((task) => this.#isAbsent(task) || random.chance(0.8));
    for (const task of this.#tasks) {
      this.#changeTask(task);
      this.#changeInputs(task);
      this.#changeOutputs(task);
    }
    this.grow(elapsedMs);
    for (const [server, listings] of this.#hiddenServers) {
      if (listings <= 1) this.#hiddenServers.delete(server);
      else this.#hiddenServers.set(server, listings - 1);
    }
    if (random.chance(0.02)) this.#hiddenServers.set(random.pick(SERVERS), 1 + random.integer(40));
  }

  /** Grows the counters of running tasks. */
  grow(elapsedMs: number): void {
    const random = this.#random;
    for (const task of this.#tasks) {
      const counters = [
        ...task.inputs.filter(({ isPresent }) => isPresent).map(({ counter }) => counter),
        ...task.outputs.map(({ counter }) => counter),
      ];
      for (const counter of counters)
        if (random.chance(0.8)) this.#carry(task, counter, random.integer(MAX_BYTES_PER_MS * elapsedMs) + 1);
    }
  }

  /** Returns the current listing in random order. */
  list(isGood: boolean): readonly ListedTask[] {
    const present = this.#tasks.filter((task) => !this.#isAbsent(task));
    if (isGood) for (const task of present) task.wasListed = true;
    return this.#random.shuffle(present.map((task) => this.#list(task)));
  }

  #list(task: WorldTask): ListedTask {
    const random = this.#random;
    const present = random.shuffle(task.inputs.filter(({ isPresent }) => isPresent));
    const outputs = random.shuffle(task.outputs.filter(({ absentListings }) => absentListings === 0));
    const listed = {
      task,
      total: { counter: task.total, bytes: task.reportsTotal ? task.total.shown : undefined },
      inputs: present.map(({ counter }) => ({
        counter,
        bytes: task.reportsInputs ? counter.shown : undefined,
      })),
      outputs: outputs.map(({ counter, format }) => ({ counter, format, bytes: counter.shown })),
    };
    const record = buildTaskRecord({
      id: task.id,
      vsId: task.server,
      inputBytes: listed.total.bytes,
      inputs: present.map(({ identity }, index) =>
        buildInputRecord({ identity, inputBytes: listed.inputs[index]?.bytes }),
      ),
      outputs: outputs.map(({ format, relativeDir, fileName, tag }, index) =>
        buildOutputRecord({
          format,
          relativeDir,
          fileName,
          tag,
          httpOutputBytes: listed.outputs[index]?.bytes,
        }),
      ),
    });
    return { ...listed, record };
  }

  #startTask(isOld: boolean): void {
    const random = this.#random;
    const id = `t${(this.#nextId += 1)}`;
    const [first = '', second = ''] = random.shuffle(SERVERS);
    const task = this.#createTask(id, first, isOld);
    this.#tasks.push(task);
    if (!random.chance(0.1)) return;
    task.twin = this.#createTask(id, second, isOld);
    task.twin.twin = task;
    this.#tasks.push(task.twin);
  }

  #createTask(id: string, server: string, isOld: boolean): WorldTask {
    const random = this.#random;
    const reportsTotal = random.chance(0.6);
    const task: WorldTask = {
      id,
      server,
      total: new ServiceCounter(),
      inputs: [],
      outputs: [],
      reportsTotal,
      reportsInputs: !reportsTotal || this.#events.hasSwitches === true,
      twin: undefined,
      hiddenListings: 0,
      wasListed: false,
    };
    for (let count = 1 + random.integer(3); count > 0; count -= 1) this.#addInput(task);
    for (let count = random.integer(4); count > 0; count -= 1) this.#addOutput(task);
    this.#shareIdentities(task);
    if (isOld)
      for (const { counter } of [...task.inputs, ...task.outputs])
        this.#carry(task, counter, random.integer(MAX_OLD_BYTES));
    return task;
  }

  #addInput(task: WorldTask): void {
    const identity = (this.#nextId += 1);
    task.inputs.push({ identity, counter: new ServiceCounter(), isShared: false, isPresent: true });
  }

  #addOutput(task: WorldTask): void {
    const random = this.#random;
    const counter = new ServiceCounter();
    counter.isHidden = random.chance(0.05);
    task.outputs.push({
      format: random.pick(FORMATS),
      relativeDir: random.pick(['a', 'b']),
      fileName: `f${(this.#nextId += 1)}`,
      tag: 'tag',
      counter,
      isShared: false,
      absentListings: 0,
    });
  }

  /** Adds twins with the same identity to some inputs and outputs of a new task. */
  #shareIdentities({ inputs, outputs }: WorldTask): void {
    const [input] = inputs;
    if (input !== undefined && this.#random.chance(0.1)) {
      input.isShared = true;
      inputs.push({ ...input, counter: new ServiceCounter() });
    }
    const [output] = outputs;
    if (output !== undefined && this.#random.chance(0.1)) {
      output.isShared = true;
      output.counter.isHidden = false;
      outputs.push({ ...output, counter: new ServiceCounter() });
    }
  }

  #carry(task: WorldTask, counter: ServiceCounter, bytes: number): void {
    counter.grow(bytes);
    if (task.inputs.some((input) => input.counter === counter)) task.total.grow(bytes);
  }

  #isAbsent(task: WorldTask): boolean {
    return task.hiddenListings > 0 || (task.twin === undefined && this.#hiddenServers.has(task.server));
  }

  #changeTask(task: WorldTask): void {
    const random = this.#random;
    const { twin } = task;
    if (task.hiddenListings > 0) task.hiddenListings -= 1;
    else if (this.#canHide(task) && random.chance(0.05)) task.hiddenListings = 1 + random.integer(15);
    if (twin === undefined && random.chance(0.05)) task.server = random.pick(SERVERS);
    if (this.#events.hasSwitches === true && random.chance(0.02)) task.reportsTotal = !task.reportsTotal;
    this.#disturb(task.total);
  }

  /** At most one of two tasks with the same id is absent: if both were, the returning one could not be identified. */
  #canHide({ twin, wasListed }: WorldTask): boolean {
    if (twin === undefined) return true;
    return this.#events.hasFixedTwins !== true && wasListed && twin.wasListed && !this.#isAbsent(twin);
  }

  #changeInputs(task: WorldTask): void {
    const random = this.#random;
    if (task.inputs.length < MAX_PARTS && random.chance(0.05)) this.#addInput(task);
    for (const input of task.inputs.filter(({ isShared }) => !isShared)) {
      if (this.#events.hasFixedParts !== true && random.chance(0.1)) input.isPresent = !input.isPresent;
      this.#disturb(input.counter);
    }
  }

  #changeOutputs(task: WorldTask): void {
    const random = this.#random;
    if (task.outputs.length < MAX_PARTS && random.chance(0.05)) this.#addOutput(task);
    for (const output of task.outputs) {
      if (random.chance(0.05)) output.tag = `tag${random.integer(9)}`;
      if (output.isShared) continue;
      this.#disturb(output.counter);
      if (output.absentListings > 0) output.absentListings -= 1;
      if (this.#events.hasFixedParts === true) continue;
      if (output.absentListings === 0 && random.chance(0.03)) output.absentListings = 1 + random.integer(15);
      // A new file has a new counter.
      if (random.chance(0.02)) {
        output.fileName = `f${(this.#nextId += 1)}`;
        output.counter = new ServiceCounter();
      }
    }
    if (this.#events.hasFixedParts !== true && task.outputs.at(-1)?.isShared === false && random.chance(0.05))
      task.outputs.pop();
  }

  /** Applies random events to a single counter. */
  #disturb(counter: ServiceCounter): void {
    const random = this.#random;
    counter.isHidden = random.chance(0.05);
    if (this.#events.hasResets === true && random.chance(0.02)) counter.value = 0;
    counter.isSpiking = this.#events.hasSpikes === true && random.chance(0.01);
  }
}
