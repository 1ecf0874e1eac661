import { createTrapError, ReadError } from './engine/read-error.ts';
import type { ListingSink } from './listing-sink.ts';
import type { ListingResult, ReaderInstance } from './reader-instance.ts';
import type { ReaderPool } from './reader-pool.ts';
import type { TaskNameSource } from './task-name.ts';

/** What is read, besides the body. */
export interface ListingOptions {
  /** The polled code: records of another are counted as foreign. */
  readonly serviceCode: string;
  /** Where the names of tasks are; without it, no name leaves the reader. */
  readonly taskName?: TaskNameSource | undefined;
}

/**
 * Reads the body of a `task_list` response ("Response object") in chunks as they arrive, and passes its totals to the sink
 * at the end. It holds an instance of the engine from the first chunk to the end, an error, or disposal.
 *
 * Throws a `ReadError`: `not_json` at the byte where the body is not JSON; `bad_shape`, at the end, for JSON
 * that is not a listing; `internal` for a defect of the engine.
 */
export class ListingReader implements Disposable {
  readonly #sink: ListingSink;
  readonly #options: ListingOptions;
  readonly #pool: ReaderPool;
  #instance: ReaderInstance | undefined;
  #ret: number | undefined;

  constructor(sink: ListingSink, options: ListingOptions, pool: ReaderPool) {
    this.#sink = sink;
    this.#options = options;
    this.#pool = pool;
  }

  /** The body's `ret`; undefined until it is read. */
  get ret(): number | undefined {
    return this.#ret;
  }

  /** Reads the next chunk of the body, cut at any byte. The caller may overwrite it afterwards. */
  write(chunk: Uint8Array): void {
    this.#run((instance) => instance.write(chunk));
  }

  end(): ListingResult {
    const result = this.#run((instance) => instance.end());
    this[Symbol.dispose]();
    return result;
  }

  /** Returns the instance to the pool. */
  [Symbol.dispose](): void {
    if (this.#instance !== undefined) this.#pool.release(this.#instance);
    this.#instance = undefined;
  }

  #run<T>(read: (instance: ReaderInstance) => T): T {
    const instance = (this.#instance ??= this.#begin());
    try {
      const result = read(instance);
      this.#ret = instance.ret;
      return result;
    } catch (error) {
      this.#ret = instance.ret;
      if (error instanceof ReadError) {
        this[Symbol.dispose]();
        throw error;
      }
      // The state of the instance is unknown: the pool creates another one.
      this.#instance = undefined;
      throw error instanceof WebAssembly.RuntimeError ? createTrapError(error) : error;
    }
  }

  #begin(): ReaderInstance {
    const { serviceCode, taskName } = this.#options;
    const instance = this.#pool.acquire(taskName);
    instance.begin(this.#sink, serviceCode, taskName);
    return instance;
  }
}
