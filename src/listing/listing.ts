import type { ListedGroupName, RecordGroupName } from './label-groups.ts';
import type { RowsOf } from './rows.ts';
import type { RecordKind } from './task-list.ts';
import type { TaskNameSource } from './task-name.ts';

/**
 * Why an entry was rejected: the `reason` label. `missing_field`: a task has no `id`. `wrong_type`: the
 * `id` of a task is not a string. `invalid_id`: it has more than 128 characters, or control or format
 * characters. `too_long`: an entry of `user_list` or `task_list` exceeds 1 MiB. `duplicate_id`: the listing
 * has an earlier task with the same id.
 */
export type InvalidReason =
  'not_an_object' | 'missing_field' | 'wrong_type' | 'invalid_id' | 'too_long' | 'duplicate_id';

/** The identity of a task's own `input_bytes` among its inputs: no hash of an input is negative. */
export const OWN_INPUT = -1;

export interface PartReading {
  /** 53-bit hash of the fields that identify the part within its task. */
  readonly identity: number;
  /** `undefined` if the field is missing or invalid. */
  readonly bytes: number | undefined;
  readonly connections?: number;
}

/** An output of a task in one listing. Its labels are those of its rows, so they may be folded. */
export interface OutputReading extends PartReading {
  readonly connections: number;
  readonly outputRow: number;
  readonly renditionRow: number;
}

/** A task in one listing, which the ledger compares with the one before. Labels are sanitized. */
export interface TaskReading {
  readonly id: string;
  readonly vsId: string;
  /** As a label value; `undefined` if it has none, or if none is asked for. */
  readonly name: string | undefined;
  /** A finite number from 0 on; `undefined` if it is missing. */
  readonly progress: number | undefined;
  /** The number of its inputs in the listing, including those beyond a limit. */
  readonly inputCount: number;
  /**
   * Sorted by identity, then by bytes, the largest first. If the task has its own `input_bytes`, it has no
   * others.
   */
  readonly inputs: readonly PartReading[];
  /** The protocol of a task with exactly one input. */
  readonly protocol: string | undefined;
  /** Sorted by identity, then by bytes, the largest first. */
  readonly outputs: readonly OutputReading[];
  readonly connections: number;
}

/**
 * Items that can exceed a limit of one listing: the `item` label of `xvs_exporter_listing_surplus_total`.
 * Surplus tasks are added up without accounts, or dropped as surplus users, inputs, outputs and streams are;
 * surplus label sets and label values fold into `__other__`.
 */
export type SurplusItem =
  'user' | 'task' | 'account' | 'input' | 'output' | 'stream' | 'label_set' | 'label_value';

/** A rejected entry. `index` is that of the element of `user_list` or `task_list` that is it or has it. */
export interface RejectedEntry {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  readonly index: number;
}

/** `user_list[3]: not_an_object`, `an output of task_list[0]: not_an_object` */
export function formatRejectedEntry({ record, index, reason }: RejectedEntry): string {
  if (record === 'user') return `user_list[${index}]: ${reason}`;
  const owner = record === 'task' ? '' : `${/^[aeiou]/.test(record) ? 'an' : 'a'} ${record} of `;
  return `${owner}task_list[${index}]: ${reason}`;
}

/** The rows of a listing. Readings refer to them. */
export type ListingRows = RowsOf<RecordGroupName | ListedGroupName>;

export interface Listing {
  readonly users: number;
  /** The number of tasks, including those without accounts. */
  readonly taskCount: number;
  /** Tasks with accounts, by id. */
  readonly tasks: ReadonlyMap<string, TaskReading>;
  readonly rows: ListingRows;
  /** The first five entries that were rejected. */
  readonly firstRejected: readonly RejectedEntry[];
  /** Records whose `service_code` is the polled one. */
  readonly ofPolledCode: number;
}

/** How to read the listing of a service code. */
export interface ListingOptions {
  /** The polled code: entries of another are counted as foreign. */
  readonly serviceCode: string;
  /** Where the names of tasks are; without it, no name leaves the reader. */
  readonly taskName?: TaskNameSource | undefined;
  /** Tasks of these names get accounts before all others. */
  readonly expectation?: { readonly names: readonly string[] } | undefined;
}

/** Bounds the tasks of a listing while it is read: they need as much memory as their accounts. */
export interface AccountReservations {
  /** Reserves accounts of a task and of its inputs and outputs; returns whether the budget allows them. */
  reserve(count: number): boolean;
  release(count: number): void;
}
