import { ColumnReader, type HashKey } from '../json-columns/column-reader.ts';
import { LabelValues } from '../json-columns/label-values.ts';
import { createTrapError, ReadError } from '../json-columns/read-error.ts';
import { NAMED_VALUES } from './label-groups.ts';
import { OTHER, sanitizeLabelValue, UNKNOWN } from './label-values.ts';
import type { AccountReservations, Listing } from './listing.ts';
import { computeLabelLimits, type ReaderLimits } from './reader-limits.ts';
import type { RowTableKey } from './row-table.ts';
import { ListingSums } from './listing-sums.ts';
import { createTaskListTable, parseInputProtocol } from './task-list.ts';
import type { NamesToRead } from './task-readings.ts';
import { getTaskNameField, type TaskNameField, type TaskNameSource } from './task-name.ts';

/** Random bits for the hashes of the engine and of the rows. */
export interface ReaderKeys {
  readonly engine: HashKey;
  readonly rows: RowTableKey;
}

interface ReadingProgress {
  /** The body's `ret`; undefined until it is read. */
  readonly ret: number | undefined;
  readonly users: number;
  readonly tasks: number;
}

export interface ListingOptions extends NamesToRead {
  /** The polled code: records of another are counted as foreign. */
  readonly serviceCode: string;
}

/**
 * Reads the body of a `task_list` response ("Response object") in chunks, cut at any byte, to a listing.
 * Holds an instance of the engine from the first chunk to the end, an error or disposal. Throws `ReadError`s.
 */
export class ListingReader implements Disposable {
  readonly #options: ListingOptions;
  readonly #pool: ReaderPool;
  readonly #accountShare: AccountReservations | undefined;
  #instance: ReaderInstance | undefined;
  #progress: ReadingProgress = { ret: undefined, users: 0, tasks: 0 };

  /** `accountShare` bounds the tasks that are read, besides the limits of the pool. */
  constructor(options: ListingOptions, pool: ReaderPool, accountShare?: AccountReservations) {
    this.#options = options;
    this.#pool = pool;
    this.#accountShare = accountShare;
  }

  get progress(): ReadingProgress {
    return this.#progress;
  }

  /** The caller may overwrite the chunk afterwards. */
  write(chunk: Uint8Array): void {
    this.#run(({ reader }) => reader.write(chunk));
  }

  /** Ends the body. Returns its listing; `undefined` if `ret` is not 0. */
  end(): Listing | undefined {
    const listing = this.#run((instance) => {
      const { reader, sums } = instance;
      reader.end(() => (instance.ret ?? 0) !== 0);
      return (instance.ret ?? 0) === 0 ? sums.finish() : undefined;
    });
    this[Symbol.dispose]();
    return listing;
  }

  [Symbol.dispose](): void {
    if (this.#instance !== undefined) this.#pool.release(this.#instance);
    this.#instance = undefined;
  }

  #run<T>(read: (instance: ReaderInstance) => T): T {
    const instance = (this.#instance ??= this.#begin());
    try {
      return read(instance);
    } catch (error) {
      if (error instanceof ReadError) {
        this[Symbol.dispose]();
        throw error;
      }
      // The state of the instance is unknown: the pool creates another one.
      instance.sums.release();
      this.#instance = undefined;
      throw error instanceof WebAssembly.RuntimeError ? createTrapError(error) : error;
    } finally {
      const { ret, sums } = instance;
      this.#progress = { ret, users: sums.users, tasks: sums.taskCount };
    }
  }

  #begin(): ReaderInstance {
    const { serviceCode, taskName } = this.#options;
    const instance = this.#pool.acquire(taskName);
    instance.ret = undefined;
    instance.reader.begin(serviceCode);
    instance.sums.begin(this.#options, this.#accountShare);
    return instance;
  }
}

/** An instance of the engine with the table of `task_list`. It reads one listing at a time. */
class ReaderInstance {
  readonly nameField: TaskNameField | undefined;
  readonly reader: ColumnReader;
  readonly sums: ListingSums;
  ret: number | undefined;

  constructor(
    module: WebAssembly.Module,
    limits: ReaderLimits,
    keys: ReaderKeys,
    nameField: TaskNameField | undefined,
  ) {
    this.nameField = nameField;
    const table = createTaskListTable(limits, nameField);
    const labelValues = new LabelValues([UNKNOWN, OTHER, ...NAMED_VALUES], sanitizeLabelValue);
    const engineLimits = { ...limits, ...computeLabelLimits(limits) };
    this.reader = new ColumnReader(module, table.body, engineLimits, keys.engine, {
      labelValues,
      nameScheme: parseInputProtocol,
      takeScalar: (_ret, value) => this.#takeRet(value),
      noteRejected: (type, reason, entry) => this.sums.rejections.noteElement(type, reason, entry),
      takeBatch: () => this.sums.takeBatch(),
    });
    this.sums = new ListingSums(this.reader, table, labelValues, limits, keys.rows);
  }

  /** "Response object", `ret`: an integer, or a string of digits. */
  #takeRet(value: unknown): boolean {
    const number = typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
    if (!Number.isSafeInteger(number)) return false;
    this.ret = Number(number);
    return true;
  }
}

/** Memory of free instances that are kept: about 16 that read small listings, none that read a giant one. */
const MAX_FREE_BYTES = 8 * 1024 * 1024;

/** Instances of the engine, for reuse by all service codes: memory is that of the polls under way. */
export class ReaderPool {
  readonly #module: WebAssembly.Module;
  readonly #limits: ReaderLimits;
  readonly #keys: ReaderKeys;
  readonly #free: ReaderInstance[] = [];

  /** `keys` are random, so that a service cannot aim at collisions of hashes. */
  constructor(module: WebAssembly.Module, limits: ReaderLimits, keys: ReaderKeys) {
    this.#module = module;
    this.#limits = limits;
    this.#keys = keys;
  }

  get freeCount(): number {
    return this.#free.length;
  }

  acquire(nameSource: TaskNameSource | undefined): ReaderInstance {
    const nameField = nameSource && getTaskNameField(nameSource);
    const index = this.#free.findLastIndex((instance) => instance.nameField === nameField);
    const [instance] = index < 0 ? [] : this.#free.splice(index, 1);
    return instance ?? new ReaderInstance(this.#module, this.#limits, this.#keys, nameField);
  }

  /** Takes back an instance that did not trap. */
  release(instance: ReaderInstance): void {
    instance.sums.release();
    this.#free.push(instance);
    const countBytes = (): number => this.#free.reduce((sum, { reader }) => sum + reader.allocatedBytes, 0);
    while (countBytes() > MAX_FREE_BYTES) this.#free.shift();
  }
}
