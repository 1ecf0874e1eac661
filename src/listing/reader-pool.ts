import { ReaderInstance, type ReaderKeys } from './reader-instance.ts';
import type { ReaderLimits } from './reader-limits.ts';
import { getTaskNameField, type TaskNameSource } from './task-name.ts';

/** The pool keeps at most this many free instances; more exist only while more listings are read at a time. */
const MAX_FREE_INSTANCES = 4;
/** An instance with more memory, which only a giant listing needs, is dropped. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024;

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

  /** Number of free instances. */
  get freeCount(): number {
    return this.#free.length;
  }

  /** Returns an instance that reads the names of tasks from a source, or no names. */
  acquire(nameSource: TaskNameSource | undefined): ReaderInstance {
    const nameField = nameSource && getTaskNameField(nameSource);
    const index = this.#free.findLastIndex((instance) => instance.nameField === nameField);
    const [instance] = index < 0 ? [] : this.#free.splice(index, 1);
    return instance ?? new ReaderInstance(this.#module, this.#limits, this.#keys, nameField);
  }

  /** Takes back an instance that did not trap. */
  release(instance: ReaderInstance): void {
    instance.reset();
    if (instance.allocatedBytes > MAX_KEPT_BYTES) return;
    this.#free.push(instance);
    if (this.#free.length > MAX_FREE_INSTANCES) this.#free.shift();
  }
}
