import { ReaderInstance } from './reader-instance.ts';
import type { ReaderLimits } from './reader-limits.ts';

/** The pool keeps at most this many free instances; more exist only while more listings are read at a time. */
const MAX_FREE_INSTANCES = 4;
/** An instance with more memory, which only a giant listing needs, is dropped. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

/** Instances of the module, for reuse by all service codes: memory is that of the polls under way. */
export class ReaderPool {
  readonly #module: WebAssembly.Module;
  readonly #limits: ReaderLimits;
  readonly #seed: bigint;
  readonly #free: ReaderInstance[] = [];

  /** `seed` is 64 random bits, so that a service cannot aim at collisions of hashes. */
  constructor(module: WebAssembly.Module, limits: ReaderLimits, seed: bigint) {
    this.#module = module;
    this.#limits = limits;
    this.#seed = seed;
  }

  /** Number of free instances. */
  get freeCount(): number {
    return this.#free.length;
  }

  acquire(): ReaderInstance {
    return this.#free.pop() ?? new ReaderInstance(this.#module, this.#limits, this.#seed);
  }

  /** Takes back an instance that did not trap. */
  release(instance: ReaderInstance): void {
    instance.reset();
    if (this.#free.length < MAX_FREE_INSTANCES && instance.allocatedBytes <= MAX_KEPT_BYTES)
      this.#free.push(instance);
  }
}
