import { ListingError } from './listing-error.ts';
import type { ListingSink } from './listing-sink.ts';
import { createTrapError, type ListingResult, type ReaderInstance } from './reader-instance.ts';
import type { ReaderPool } from './reader-pool.ts';

/**
 * Reads the body of a `task_list` response ("Response object") in chunks as they arrive: passes each task to the sink, and
 * the totals at the end. It holds an instance of the module from the first chunk to the end, an error, or disposal.
 *
 * Throws a `ListingError`: `not_json` at the byte where the body is not JSON; `bad_shape`, at the end, for JSON
 * that is not a listing; `internal` for a defect of the module. After an error, what the sink received is not valid.
 */
export class ListingReader implements Disposable {
  readonly #sink: ListingSink;
  readonly #serviceCode: string;
  readonly #pool: ReaderPool;
  #instance: ReaderInstance | undefined;
  #ret: number | undefined;

  /** `serviceCode` is the polled one; records of another are counted as foreign. */
  constructor(sink: ListingSink, serviceCode: string, pool: ReaderPool) {
    this.#sink = sink;
    this.#serviceCode = serviceCode;
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
      if (error instanceof ListingError) {
        this[Symbol.dispose]();
        throw error;
      }
      // The state of the instance is unknown: the pool creates another one.
      this.#instance = undefined;
      throw error instanceof WebAssembly.RuntimeError ? createTrapError(error) : error;
    }
  }

  #begin(): ReaderInstance {
    const instance = this.#pool.acquire();
    instance.begin(this.#sink, this.#serviceCode);
    return instance;
  }
}
