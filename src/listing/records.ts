/* The kinds of records of a listing, and what can be wrong with them. */

/** The kind of a list entry: the `record` label of `xvs_exporter_invalid_records_total`. */
export type RecordKind = 'user' | 'task' | 'input' | 'output' | 'stream';

/**
 * Why an entry was rejected: the `reason` label. `missing_field`: a task has no `id`. `wrong_type`: the `id` of a task is
 * not a string. `too_long`: an entry of `user_list` or `task_list` exceeds the reader's buffer. `duplicate_id`: the
 * listing has an earlier task with the same id.
 */
export type InvalidReason = 'not_an_object' | 'missing_field' | 'wrong_type' | 'too_long' | 'duplicate_id';

export const RECORD_KINDS = [
  'user',
  'task',
  'input',
  'output',
  'stream',
] as const satisfies readonly RecordKind[];
