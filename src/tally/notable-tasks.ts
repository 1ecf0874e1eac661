import { sanitizeLabelValue } from '../listing/label-values.ts';
import type { TaskReading } from '../listing/listing-sink.ts';
import type { TaskIndex } from '../listing/task-index.ts';
import type { Instant } from './instant.ts';
import type { TaskAccount, TaskKey } from './ledger/task-account.ts';

/** Tasks that are named for each reason: with ids of 40 characters, a snapshot holds about 2 kB of them. */
export const MAX_NOTABLE_TASKS = 10;

/** A task as pages name it. */
interface NamedTask {
  /** As a label value. */
  readonly id: string;
  /** `undefined` without `tasks.name`, and if it has none. */
  readonly name: string | undefined;
  readonly vsId: string;
}

interface WatchedTask extends NamedTask {
  readonly connections: number;
}

interface IdleTask extends NamedTask {
  /** When its input last flowed, or when it was first seen without input, in milliseconds since the Unix epoch. */
  readonly sinceMs: number;
}

/** The tasks of a listing that people look for first, at most {@link MAX_NOTABLE_TASKS} of each kind. */
export interface NotableTasks {
  /** Tasks with connections, those with the most first. */
  readonly mostWatched: readonly WatchedTask[];
  /** Stalled tasks, the longest stalled first. */
  readonly longestStalled: readonly IdleTask[];
  /** Tasks without input, the oldest first. */
  readonly longestWithoutInput: readonly IdleTask[];
}

/** The largest of the tasks that it is offered, the largest first; of equal ones, the first. */
export class LargestTasks<Task> {
  readonly #entries: { readonly task: Task; readonly size: number }[] = [];

  get tasks(): readonly Task[] {
    return this.#entries.map(({ task }) => task);
  }

  offer(task: Task, size: number): void {
    const smallest = this.#entries[MAX_NOTABLE_TASKS - 1];
    if (smallest !== undefined && size <= smallest.size) return;
    const index = this.#entries.findIndex((other) => other.size < size);
    this.#entries.splice(index < 0 ? this.#entries.length : index, 0, { task, size });
    if (this.#entries.length > MAX_NOTABLE_TASKS) this.#entries.pop();
  }
}

/** Selects and names tasks of a listing. */
export function nameNotableTasks(
  tasks: TaskIndex<TaskReading>,
  {
    longestStalled,
    longestWithoutInput,
  }: Record<'longestStalled' | 'longestWithoutInput', LargestTasks<TaskAccount>>,
): NotableTasks {
  const mostWatched = new LargestTasks<TaskReading>();
  for (const task of tasks) if (task.connections > 0) mostWatched.offer(task, task.connections);
  const nameTask = ({ id, vsId }: TaskKey): NamedTask => ({
    id: sanitizeLabelValue(id),
    name: tasks.get(id, vsId)?.name,
    vsId,
  });
  const toIdleTask = (task: TaskAccount, { wallMs: sinceMs }: Instant) => ({ ...nameTask(task), sinceMs });
  return {
    mostWatched: mostWatched.tasks.map((task) => ({ ...nameTask(task), connections: task.connections })),
    longestStalled: longestStalled.tasks.map((task) => toIdleTask(task, task.lastActivity)),
    longestWithoutInput: longestWithoutInput.tasks.map((task) => toIdleTask(task, task.firstSeen)),
  };
}
