import { createTrapError, ReadError } from '../json-columns/read-error.ts';
import type { AccountReservations, Listing, ListingOptions } from './listing.ts';
import { ListingSums, type ReaderKeys } from './listing-sums.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { getTaskNameField, type TaskNameSource } from './task-name.ts';

interface ReadingProgress {
  /** The body's `ret`; undefined until it is read. */
  readonly ret: number | undefined;
  readonly users: number;
  readonly tasks: number;
}

/**
 * Reads the body of a `task_list` response ("Response object") in chunks, cut at any byte, to a listing.
 * Holds an instance of the engine from the first chunk to the end, an error or disposal. Throws `ReadError`s.
 */
export class ListingReader implements Disposable {
  readonly #options: ListingOptions;
  readonly #pool: ReaderPool;
  readonly #accountShare: AccountReservations | undefined;
  #instance: ListingSums | undefined;
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
      instance.reader.end(() => (instance.ret ?? 0) !== 0);
      return (instance.ret ?? 0) === 0 ? instance.finish() : undefined;
    });
    this[Symbol.dispose]();
    return listing;
  }

  [Symbol.dispose](): void {
    if (this.#instance !== undefined) this.#pool.release(this.#instance);
    this.#instance = undefined;
  }

  #run<T>(read: (instance: ListingSums) => T): T {
    const instance = (this.#instance ??= this.#begin());
    try {
      return read(instance);
    } catch (error) {
      if (error instanceof ReadError) {
        this[Symbol.dispose]();
        throw error;
      }
      // The state of the instance is unknown: the pool creates another one.
      instance.release();
      this.#instance = undefined;
      throw error instanceof WebAssembly.RuntimeError ? createTrapError(error) : error;
    } finally {
      const { ret, users, taskCount: tasks } = instance;
      this.#progress = { ret, users, tasks };
    }
  }

  #begin(): ListingSums {
    const instance = this.#pool.acquire(this.#options.taskName);
    instance.begin(this.#options, this.#accountShare);
    return instance;
  }
}

/** A pool keeps free instances up to this memory: about 16 after small listings, none after a giant one. */
const MAX_FREE_BYTES = 8 * 1024 * 1024;

/** Instances of the engine that all service codes reuse: only polls under way need memory. */
export class ReaderPool {
  readonly #module: WebAssembly.Module;
  readonly #limits: ReaderLimits;
  readonly #keys: ReaderKeys;
  readonly #free: ListingSums[] = [];

  /** `keys` are random, so that a service cannot aim at collisions of hashes. */
  constructor(module: WebAssembly.Module, limits: ReaderLimits, keys: ReaderKeys) {
    this.#module = module;
    this.#limits = limits;
    this.#keys = keys;
  }

  get freeCount(): number {
    return this.#free.length;
  }

  acquire(nameSource: TaskNameSource | undefined): ListingSums {
    const nameField = nameSource && getTaskNameField(nameSource);
    const index = this.#free.findLastIndex((instance) => instance.nameField === nameField);
    const [instance] = index < 0 ? [] : this.#free.splice(index, 1);
    return instance ?? new ListingSums(this.#module, this.#limits, this.#keys, nameField);
  }

  /** Takes back an instance that did not trap. */
  release(instance: ListingSums): void {
    instance.release();
    this.#free.push(instance);
    const countBytes = (): number => this.#free.reduce((sum, { reader }) => sum + reader.allocatedBytes, 0);
    while (countBytes() > MAX_FREE_BYTES) this.#free.shift();
  }
}
