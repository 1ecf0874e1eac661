import type { TaskReading } from '../listing/listing-sink.ts';

/** Receives the bytes that each task gained, if per-task families are on. */
export interface TaskObserver {
  onInput(task: TaskReading, bytes: number): void;
  onOutput(task: TaskReading, format: string, bytes: number): void;
}
