/** A task is identified by its id and its server. */
interface IdentifiedTask {
  readonly id: string;
  readonly vsId: string;
}

/** Values by task. Nearly every id is on one server only, so the key is the id, and only ids on several have a list. */
export class TaskIndex<Task extends IdentifiedTask> implements Iterable<Task> {
  readonly #byId = new Map<string, Task | Task[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get(id: string, vsId: string): Task | undefined {
    const found = this.#byId.get(id);
    if (Array.isArray(found)) return found.find((task) => task.vsId === vsId);
    return found?.vsId === vsId ? found : undefined;
  }

  /** The tasks of one id on all servers. */
  listById(id: string): readonly Task[] {
    const found = this.#byId.get(id);
    if (found === undefined) return [];
    return Array.isArray(found) ? found : [found];
  }

  /** Adds a task that is not in the index. */
  add(task: Task): void {
    const found = this.#byId.get(task.id);
    if (found === undefined) this.#byId.set(task.id, task);
    else if (Array.isArray(found)) found.push(task);
    else this.#byId.set(task.id, [found, task]);
    this.#size += 1;
  }

  delete(task: Task): void {
    const rest = this.listById(task.id).filter((other) => other !== task);
    const [only] = rest;
    if (only === undefined) this.#byId.delete(task.id);
    else this.#byId.set(task.id, rest.length === 1 ? only : rest);
    this.#size -= 1;
  }

  *[Symbol.iterator](): Generator<Task, void, undefined> {
    for (const found of this.#byId.values()) {
      if (Array.isArray(found)) yield* found;
      else yield found;
    }
  }
}
