import type { PartEntry } from '../listing/listing-sink.ts';
import type { LabelNode } from './label-sums.ts';

/** The bytes of a part of a task, an input or an output, in one listing. */
export type PartReading = PartEntry;

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
  /** Its inputs, by identity, then by bytes, the largest first; empty if the task reports `inputBytes` itself. */
  readonly inputs: readonly PartReading[];
  /** The protocol of a task with exactly one input. */
  readonly protocol: string | undefined;
  /** By identity, then by bytes, the largest first. */
  readonly outputs: readonly OutputReading[];
  /** Connections of all outputs. */
  readonly connections: number;
}

/** Receives the bytes that each task gained, if per-task families are on. */
export interface TaskObserver {
  onInput(task: TaskReading, bytes: number): void;
  onOutput(task: TaskReading, format: string, bytes: number): void;
}
