import type { TaskReading } from '../listing/listing.ts';
import type { Instant } from '../runtime/instant.ts';
import type { TaskAccount } from './ledger/task-account.ts';

/** Tasks that are named for each reason: with ids of 40 characters, a snapshot holds about 2 kB of them. */
export const MAX_TOP_TASKS = 10;

export interface TopTask {
  /** As a label value. */
  readonly id: string;
  /** `undefined` without `tasks.name`, and if it has none. */
  readonly name: string | undefined;
  readonly vsId: string;
  /** When its input last flowed, or it was first seen without, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
}

/** The tasks of a listing that people look for first: a few of each kind, the longest so first. */
export interface TopTasks {
  readonly longestStalled: readonly TopTask[];
  readonly longestWithoutInput: readonly TopTask[];
}

/** The largest of the tasks that it is offered, the largest first; of equal ones, the first. */
export class LargestTasks<Task> {
  readonly #entries: { readonly task: Task; readonly size: number }[] = [];

  get tasks(): readonly Task[] {
    return this.#entries.map(({ task }) => task);
  }

  offer(task: Task, size: number): void {
    const smallest = this.#entries[MAX_TOP_TASKS - 1];
    if (smallest !== undefined && size <= smallest.size) return;
    const index = this.#entries.findIndex((other) => other.size < size);
    this.#entries.splice(index < 0 ? this.#entries.length : index, 0, { task, size });
    if (this.#entries.length > MAX_TOP_TASKS) this.#entries.pop();
  }
}

export function nameTopTasks(
  tasks: ReadonlyMap<string, TaskReading>,
  {
    longestStalled,
    longestWithoutInput,
  }: Record<'longestStalled' | 'longestWithoutInput', LargestTasks<TaskAccount>>,
): TopTasks {
  const nameTask = ({ id, vsId }: TaskAccount, { wallMs: sinceMs }: Instant): TopTask => ({
    id,
    name: tasks.get(id)?.name,
    vsId,
    sinceMs,
  });
  return {
    longestStalled: longestStalled.tasks.map((task) => nameTask(task, task.lastActivity)),
    longestWithoutInput: longestWithoutInput.tasks.map((task) => nameTask(task, task.firstSeen)),
  };
}
