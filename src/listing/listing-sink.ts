import type { InvalidReason, RecordKind } from './records.ts';

/** The bytes of a part of a task, an input or an output, in one listing. */
export interface PartReading {
  /** 53-bit hash of the fields that identify the part within its task. */
  readonly identity: number;
  /** `undefined` if the field is missing or invalid. */
  readonly bytes: number | undefined;
}

/** An output of a task in one listing. Its labels are those of the rows that it is added to, so they may be folded. */
export interface OutputReading extends PartReading {
  readonly connections: number;
  /** Index of its row of the family `outputs`: `vs_id`, format. */
  readonly serverFormatRow: number;
  /** Index of its row of the family `renditions`: resolution, video codec, audio codec. */
  readonly renditionRow: number;
}

/** A task in one listing: what the ledger compares with the previous listing. Label values are sanitized. */
export interface TaskReading {
  readonly id: string;
  readonly vsId: string;
  /** A finite number from 0 on; `undefined` if it is missing. */
  readonly progress: number | undefined;
  /** Inputs that it lists, those beyond a limit included. */
  readonly inputCount: number;
  /** The task's own `input_bytes`. */
  readonly inputBytes: number | undefined;
  /** By identity, then by bytes, the largest first; empty if the task has `inputBytes`. */
  readonly inputs: readonly PartReading[];
  /** The protocol of a task with exactly one input. */
  readonly protocol: string | undefined;
  /** By identity, then by bytes, the largest first. */
  readonly outputs: readonly OutputReading[];
  /** Connections of all outputs. */
  readonly connections: number;
}

/**
 * The families of rows, each with its labels and its numbers. Labels are in the order in which folding gives them up.
 *
 * | family | labels | numbers |
 * |---|---|---|
 * | `users` | client version, device type | users |
 * | `servers` | `vs_id` | users, tasks, tasks with progress, merging tasks |
 * | `inputs` | `vs_id`, protocol | inputs |
 * | `input_clients` | client version, device type | inputs |
 * | `outputs` | `vs_id`, format | outputs, connections, outputs without connections |
 * | `renditions` | resolution, video codec, audio codec | outputs, connections |
 * | `tags` | tag | outputs |
 * | `streams` | `vs_id`, codec type, mode | streams |
 * | `codecs` | codec id, codec type | streams |
 * | `bit_rates` | codec type, mode | sum of bit rates |
 */
export const ROW_FAMILIES = [
  'users',
  'servers',
  'inputs',
  'input_clients',
  'outputs',
  'renditions',
  'tags',
  'streams',
  'codecs',
  'bit_rates',
] as const;

export type RowFamily = (typeof ROW_FAMILIES)[number];

/** A sum by label set: four numbers, of which the family uses the first ones. */
export interface Row {
  /** Readings of the same listing refer to it. */
  readonly index: number;
  readonly family: RowFamily;
  readonly labels: readonly string[];
  readonly numbers: readonly [number, number, number, number];
}

/** Number of entries of one kind that were rejected for one reason. */
export interface InvalidCount {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  readonly count: number;
}

/** Number of records of one kind in which one field was invalid; `field` is the service's name of it. */
export interface InvalidFieldCount {
  readonly record: RecordKind;
  readonly field: string;
  readonly count: number;
}

/** Number of records of one kind whose `service_code` is not the polled one. */
export interface ForeignCount {
  readonly record: RecordKind;
  readonly count: number;
}

/**
 * Items that can exceed a limit of one listing: the `item` label of `xvs_exporter_listing_surplus_total`. Tasks are added up but
 * have no accounts; inputs, outputs and streams are dropped; label sets and label values fold into `__other__`.
 */
export const SURPLUS_ITEMS = ['task', 'input', 'output', 'stream', 'label_set', 'label_value'] as const;

type SurplusItem = (typeof SURPLUS_ITEMS)[number];

/** How often something exceeded its limit in one listing. */
export interface SurplusCount {
  readonly item: SurplusItem;
  readonly count: number;
}

/** A rejected entry: `index` is that of the element of `user_list` or `task_list` which it is, or is in. */
export interface RejectedEntry {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  readonly index: number;
}

/** The totals of a listing, without counts of 0. */
export interface ListingTotals {
  readonly users: number;
  /** Tasks, those beyond the limit included. */
  readonly tasks: number;
  readonly rows: Iterable<Row>;
  readonly invalidRecords: readonly InvalidCount[];
  readonly invalidFields: readonly InvalidFieldCount[];
  readonly foreignRecords: readonly ForeignCount[];
  readonly surplus: readonly SurplusCount[];
  /** The first five. */
  readonly firstRejected: readonly RejectedEntry[];
}

/** Receives a listing while it is read. */
export interface ListingSink {
  /** Users and tasks read so far. */
  setProgress(users: number, tasks: number): void;
  addTask(task: TaskReading): void;
  /** Called once, after a complete listing with `ret` 0. `totals` is valid during the call. */
  finish(totals: ListingTotals): void;
}
