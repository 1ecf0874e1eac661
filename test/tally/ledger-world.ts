import type { TaskRecord } from '../../src/listing/records.ts';
import { buildInputRecord, buildOutputRecord, buildTaskRecord } from '../support/record-builders.ts';

/*
 * A random world that knows how many bytes every input and output has really carried, and the rules of METRICS.md by
 * which a listing can hide some of them. For each listing it computes what the counters must be: `truth`, and how far
 * they may lie below (`under`) and above (`over`) because of something that a listing cannot show.
 */

/** A deterministic source of random numbers. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  integer(below: number): number {
    return Math.floor(this.next() * below);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(items: readonly T[]): T {
    return items[this.integer(items.length)] as T;
  }

  shuffle<T>(items: readonly T[]): T[] {
    const shuffled = [...items];
    for (let last = shuffled.length - 1; last > 0; last -= 1) {
      const other = this.integer(last + 1);
      [shuffled[last], shuffled[other]] = [shuffled[other] as T, shuffled[last] as T];
    }
    return shuffled;
  }
}

/** What one counter must be, and how far it may be off. */
export class Expectation {
  truth = 0;
  under = 0;
  over = 0;
}

/** A byte counter of the service. */
class ServiceCounter {
  /** All bytes ever carried. */
  carried = 0;
  /** What the service reports: falls with a reset. */
  value = 0;
  /** `carried` and `value` when a listing last showed it; `undefined` if none has. */
  shown: { carried: number; value: number } | undefined;
  /** `carried` when the task's own total last covered it. */
  covered = 0;
  isHidden = false;
  /** Whether its first listing shows no value, so that its first value is a baseline. */
  startsMissing = false;
  hasLateBaseline = false;

  grow(bytes: number): void {
    this.carried += bytes;
    this.value += bytes;
  }

  /** The service counts from 0 again. */
  reset(): void {
    this.value = 0;
  }
}

interface WorldOutput {
  readonly format: string;
  readonly relativeDir: string;
  fileName: string;
  tag: string;
  counter: ServiceCounter;
}

interface WorldInput {
  readonly identity: number;
  readonly counter: ServiceCounter;
  isPresent: boolean;
}

interface WorldTask {
  readonly id: string;
  server: string;
  /** Total of its inputs, as the service keeps it. */
  readonly total: ServiceCounter;
  inputs: WorldInput[];
  outputs: WorldOutput[];
  reportsTotal: boolean;
  hiddenListings: number;
  /** `undefined` before its first listing. */
  life: { server: string; isEndCounted: boolean; isPresent: boolean } | undefined;
  source: 'task' | 'inputs' | undefined;
  /** Bytes before its baseline that a reset hid from the total, and that its inputs can show later. */
  hiddenByReset: number;
}

/** `hasLossyEvents`: whether counters reset and the source of input bytes changes, which listings cannot show exactly. */
export interface WorldOptions {
  readonly hasLossyEvents: boolean;
}

const SERVERS = ['s1', 's2', 's3'];
const FORMATS = ['flv', 'rtmp'];
/** Bytes per millisecond of a counter, at most. */
const MAX_BYTES_PER_MS = 100;

export class LedgerWorld {
  readonly input = new Expectation();
  readonly output = new Expectation();
  readonly started = new Map<string, number>();
  readonly ended = new Map<string, number>();
  readonly baseline = new Map<string, number>();
  readonly #random: Random;
  readonly #options: WorldOptions;
  #tasks: WorldTask[] = [];
  #nextId = 0;
  #listingCount = 0;

  readonly #hiddenServers = new Map<string, number>();

  constructor(random: Random, options: WorldOptions) {
    this.#random = random;
    this.#options = options;
    for (let count = random.integer(5); count > 0; count -= 1) this.#startTask(true);
  }

  /** Tasks on a server in the last listing, and how many of them returned after their end was counted. */
  countTasks(server: string): { readonly present: number; readonly returned: number } {
    const present = this.#tasks.filter(({ life }) => life?.isPresent === true && life.server === server);
    return { present: present.length, returned: present.filter(({ life }) => life?.isEndCounted).length };
  }

  get servers(): readonly string[] {
    return SERVERS;
  }

  /** Lets time pass and things happen. */
  advance(elapsedMs: number): void {
    const random = this.#random;

    if (!this.#isBaseline && this.#tasks.length < 12 && random.chance(0.2)) this.#startTask(false);
    if (!this.#isBaseline && random.chance(0.08))
      this.#tasks = this.#tasks.filter(
        (task) => task.life?.isPresent === false || random.chance(0.8) || this.#drop(task),
      );
    for (const task of this.#tasks) this.#change(task, elapsedMs);
    for (const [server, listings] of this.#hiddenServers) {
      if (listings <= 1) this.#hiddenServers.delete(server);
      else this.#hiddenServers.set(server, listings - 1);
    }
    if (!this.#isBaseline && random.chance(0.02))
      this.#hiddenServers.set(random.pick(SERVERS), 1 + random.integer(40));
  }

  /** The listing of this moment, in random order. If it is good, it changes what is expected. */
  list(isGood: boolean): readonly TaskRecord[] {
    const visible = this.#tasks.filter((task) => this.#isVisible(task));
    const records = visible.map((task) => this.#record(task, isGood));
    if (isGood) {
      for (const task of this.#tasks) if (!visible.includes(task)) this.#noteAbsence(task);
      this.#listingCount += 1;
    }
    return this.#random.shuffle(records);
  }

  get #isBaseline(): boolean {
    return this.#listingCount === 0;
  }

  /** Ends a task for ever; its end is counted with the next good listing. */
  #drop(task: WorldTask): boolean {
    if (task.life !== undefined) this.#noteAbsence(task);
    return false;
  }

  #startTask(isOld: boolean): void {
    const random = this.#random;
    const make = (id: string, server: string): WorldTask => {
      const total = new ServiceCounter();
      const task: WorldTask = {
        id,
        server,
        total,
        inputs: [],
        outputs: [],
        reportsTotal: random.chance(0.6),
        hiddenListings: 0,
        life: undefined,
        source: undefined,
        hiddenByReset: 0,
      };
      for (let count = 1 + random.integer(3); count > 0; count -= 1) this.#addInput(task);
      for (let count = random.integer(4); count > 0; count -= 1) this.#addOutput(task);
      if (isOld) for (const { counter } of [...task.inputs, ...task.outputs]) this.#grow(task, counter, 1e9);
      return task;
    };
    const id = `t${(this.#nextId += 1)}`;
    const [first = '', second = ''] = random.shuffle(SERVERS);
    const task = make(id, first);
    this.#tasks.push(task);
    // One id on two servers: both are listed, or neither.
    if (random.chance(0.1)) {
      const twin = make(id, second);
      task.hiddenListings = Number.NaN;
      twin.hiddenListings = Number.NaN;
      this.#tasks.push(twin);
    }
  }

  #addInput(task: WorldTask): void {
    const [first] = task.inputs;
    const isShared = first?.isPresent === true && this.#random.chance(0.2);
    task.inputs.push({
      // Two inputs can have one URL and user.
      identity: isShared ? (first?.identity ?? 0) : (this.#nextId += 1),
      counter: new ServiceCounter(),
      isPresent: true,
    });
  }

  #addOutput(task: WorldTask): void {
    const counter = new ServiceCounter();
    counter.startsMissing = this.#random.chance(0.05);
    task.outputs.push({
      format: this.#random.pick(FORMATS),
      relativeDir: this.#random.pick(['a', 'b']),
      fileName: `f${(this.#nextId += 1)}`,
      tag: 'tag',
      counter,
    });
  }

  #grow(task: WorldTask, counter: ServiceCounter, bytes: number): void {
    counter.grow(bytes);
    if (task.inputs.some((input) => input.counter === counter)) task.total.grow(bytes);
  }

  #isTwin = ({ hiddenListings }: WorldTask): boolean => Number.isNaN(hiddenListings);

  #isVisible(task: WorldTask): boolean {
    if (this.#isTwin(task)) return true;
    return task.hiddenListings === 0 && !this.#hiddenServers.has(task.server);
  }

  #change(task: WorldTask, elapsedMs: number): void {
    const random = this.#random;
    const { hasLossyEvents } = this.#options;
    const grow = (counter: ServiceCounter): void => {
      if (random.chance(0.8)) this.#grow(task, counter, random.integer(MAX_BYTES_PER_MS * elapsedMs) + 1);
    };
    for (const input of task.inputs) if (input.isPresent) grow(input.counter);
    for (const { counter } of task.outputs) grow(counter);
    if (this.#isBaseline) return;
    for (const output of task.outputs) {
      if (random.chance(0.05)) output.tag = `tag${random.integer(9)}`;
      output.counter.isHidden = random.chance(0.05);
      if (hasLossyEvents && random.chance(0.02)) output.counter.reset();
      // Another file has another counter.
      if (random.chance(0.02)) {
        output.fileName = `f${(this.#nextId += 1)}`;
        output.counter = new ServiceCounter();
      }
    }
    if (task.outputs.length < 6 && random.chance(0.05)) this.#addOutput(task);
    if (random.chance(0.05)) task.outputs.pop();
    if (hasLossyEvents && random.chance(0.02)) task.reportsTotal = !task.reportsTotal;
    if (hasLossyEvents && task.reportsTotal && random.chance(0.02)) task.total.reset();
    if (task.inputs.length < 6 && random.chance(0.05)) this.#addInput(task);
    const distinct = task.inputs.filter(
      (input) => task.inputs.filter(({ identity }) => identity === input.identity).length === 1,
    );
    for (const input of distinct) if (random.chance(0.1)) input.isPresent = !input.isPresent;
    if (this.#isTwin(task)) return;
    if (task.hiddenListings > 0) task.hiddenListings -= 1;
    else if (random.chance(0.05)) task.hiddenListings = 1 + random.integer(15);
    if (random.chance(0.05)) task.server = random.pick(SERVERS);
  }

  #record(task: WorldTask, isGood: boolean): TaskRecord {
    const wasSeen = task.life !== undefined;
    const presentInputs = task.inputs.filter(({ isPresent }) => isPresent);
    const outputs = task.outputs.map((output) => {
      const { counter } = output;
      const isMissing =
        counter.isHidden ||
        (counter.startsMissing && counter.shown === undefined && !counter.hasLateBaseline);
      return { output, bytes: isMissing ? undefined : counter.value };
    });
    const record = buildTaskRecord({
      id: task.id,
      vsId: task.server,
      inputBytes: task.reportsTotal ? task.total.value : undefined,
      inputs: this.#random.shuffle(
        presentInputs.map(({ identity, counter }) =>
          buildInputRecord({ identity, inputBytes: counter.value }),
        ),
      ),
      outputs: this.#random.shuffle(
        outputs.map(({ output, bytes }) =>
          buildOutputRecord({
            format: output.format,
            relativeDir: output.relativeDir,
            fileName: output.fileName,
            tag: output.tag,
            httpOutputBytes: bytes,
          }),
        ),
      ),
    });
    if (!isGood) return record;

    for (const { output, bytes } of outputs) this.#showOutput(output.counter, bytes);
    this.#showInput(task, presentInputs, wasSeen);
    this.#notePresence(task);
    return record;
  }

  #showOutput(counter: ServiceCounter, bytes: number | undefined): void {
    const { output } = this;
    if (bytes === undefined) {
      counter.hasLateBaseline ||= counter.shown === undefined;
      return;
    }
    const isBaseline = this.#isBaseline || (counter.shown === undefined && counter.hasLateBaseline);
    if (!isBaseline) this.#count(output, counter, counter.shown);
    counter.shown = { carried: counter.carried, value: counter.value };
  }

  /** What a listing shows of a counter, and what it cannot show: bytes before a reset, or a reset that was outgrown. */
  #count(expected: Expectation, counter: ServiceCounter, shown: ServiceCounter['shown']): void {
    const carried = counter.carried - (shown?.carried ?? 0);
    const lastValue = shown?.value ?? 0;
    const counted = counter.value >= lastValue ? counter.value - lastValue : counter.value;
    expected.truth += carried;
    expected.under += carried - counted;
  }

  #showInput(task: WorldTask, present: readonly WorldInput[], wasSeen: boolean): void {
    const { input } = this;
    const source = task.reportsTotal ? 'task' : present.length > 0 ? 'inputs' : undefined;
    const isBaseline = this.#isBaseline || (task.source === undefined && wasSeen);
    if (source === undefined) return;
    const isSwitch = task.source !== undefined && task.source !== source;
    task.source = source;
    if (source === 'task') {
      if (isBaseline) task.hiddenByReset = task.total.carried - task.total.value;
      else this.#countTotal(task, isSwitch);
      for (const one of task.inputs) one.counter.covered = one.counter.carried;
    } else {
      if (isSwitch) {
        input.over += task.hiddenByReset;
        task.hiddenByReset = 0;
      }
      for (const { counter } of present) {
        const known = Math.max(counter.shown?.carried ?? 0, counter.covered);
        const carried = counter.carried - known;
        if (!isBaseline) {
          input.truth += carried;
          // A switch counts the total only above what is accounted for; later, the total may catch up.
          if (isSwitch) input.under += carried;
          else input.over += Math.max(0, counter.covered - (counter.shown?.carried ?? 0));
        }
        counter.shown = { carried: counter.carried, value: counter.value };
      }
    }
    if (source === 'inputs') return;
    task.total.shown = { carried: task.total.carried, value: task.total.value };
  }

  #countTotal(task: WorldTask, isSwitch: boolean): void {
    const { input } = this;
    if (!isSwitch) {
      this.#count(input, task.total, task.total.shown);
      return;
    }
    const unknown = task.inputs.reduce(
      (sum, { counter }) => sum + counter.carried - Math.max(counter.shown?.carried ?? 0, counter.covered),
      0,
    );
    input.truth += unknown;
    input.under += unknown;
  }

  #notePresence(task: WorldTask): void {
    const { life } = task;
    if (life === undefined) {
      const counts = this.#isBaseline ? this.baseline : this.started;
      add(counts, task.server, 1);
    } else if (life.server !== task.server) {
      if (!life.isEndCounted) add(this.ended, life.server, 1);
      add(this.started, task.server, 1);
    }
    const isSame = life?.server === task.server;
    task.life = {
      server: task.server,
      isEndCounted: isSame && (life?.isEndCounted ?? false),
      isPresent: true,
    };
  }

  #noteAbsence(task: WorldTask): void {
    const { life } = task;
    if (life === undefined) return;
    if (life.isPresent && !life.isEndCounted) {
      add(this.ended, life.server, 1);
      life.isEndCounted = true;
    }
    life.isPresent = false;
  }
}

function add(counts: Map<string, number>, key: string, amount: number): void {
  counts.set(key, (counts.get(key) ?? 0) + amount);
}
