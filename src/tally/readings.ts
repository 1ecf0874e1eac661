import type { InvalidReason, RecordKind } from '../listing/records.ts';
import type { LabelNode } from './label-sums.ts';

/** The bytes of a part of a task, an input or an output, in one listing. */
export interface PartReading {
  /** A hash of the fields that identify the part within its task. */
  readonly identity: number;
  /** `undefined` if the field is missing or invalid. */
  readonly bytes: number | undefined;
}

/** An output of a task in one listing. */
export interface OutputReading extends PartReading {
  readonly format: string;
  readonly connections: number;
  /** Where the bytes that it gained are added, by server and format. */
  readonly bytesSum: LabelNode;
  /** Where they are added by rendition. */
  readonly renditionBytesSum: LabelNode;
}

/** A task in one listing: what the ledger compares with the previous listing. */
export interface TaskReading {
  readonly id: string;
  readonly vsId: string;
  readonly progress: number | undefined;
  readonly isMerging: boolean;
  /** The task's own `input_bytes`. */
  readonly inputBytes: number | undefined;
  /** Its inputs, sorted by {@link comparePartReadings}; empty if the task reports `inputBytes` itself. */
  readonly inputs: readonly PartReading[];
  /** The protocol of a task with exactly one input. */
  readonly protocol: string | undefined;
  /** Sorted by {@link comparePartReadings}. */
  readonly outputs: readonly OutputReading[];
  /** Connections of all outputs. */
  readonly connections: number;
}

/** Orders readings by identity, equal identities by value, the largest first. */
export function comparePartReadings(a: PartReading, b: PartReading): number {
  return a.identity - b.identity || (b.bytes ?? -1) - (a.bytes ?? -1);
}

/** Number of entries of one kind that were rejected for one reason. */
export interface InvalidCount {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  count: number;
}

/** Number of records of one kind in which one field was invalid; `field` is the service's name of it. */
export interface InvalidFieldCount {
  readonly record: RecordKind;
  readonly field: string;
  count: number;
}

/** Number of records of one kind whose `service_code` is not the polled one. */
export interface ForeignCount {
  readonly record: RecordKind;
  count: number;
}

/** Receives the bytes that each task gained, if per-task families are on. */
export interface TaskObserver {
  onInput(task: TaskReading, bytes: number): void;
  onOutput(task: TaskReading, format: string, bytes: number): void;
}
