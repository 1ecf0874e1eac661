/* The kinds of records of a listing, and what can be wrong with them. */

/** The kind of a list entry: the `record` label of `xvs_exporter_invalid_records_total`. */
export type RecordKind = 'user' | 'task' | 'input' | 'output' | 'stream';

/**
 * Why an entry was rejected: the `reason` label. `missing_field`: a task has no `id`. `wrong_type`: the `id` of a task is
 * not a string. `too_long`: an entry of `user_list` or `task_list` exceeds the reader's buffer. `duplicate_id`: the
 * listing has an earlier task with the same id.
 */
export type InvalidReason = 'not_an_object' | 'missing_field' | 'wrong_type' | 'too_long' | 'duplicate_id';

/** In the order of the reader's module. */
export const RECORD_KINDS = [
  'user',
  'task',
  'input',
  'output',
  'stream',
] as const satisfies readonly RecordKind[];

const CHECKED_FIELDS_BY_RECORD: Readonly<Record<RecordKind, readonly string[]>> = {
  user: ['vs_id', 'service_code', 'client_version', 'device_type'],
  task: ['progress', 'vs_id', 'service_code', 'inputs', 'outputs', 'input_bytes'],
  input: ['url', 'user_name', 'device_type', 'device_version', 'client_version', 'input_bytes'],
  output: [
    'file_name',
    'relative_dir',
    'tag',
    'audio_codec_name',
    'video_codec_name',
    'format',
    'width',
    'height',
    'http_output_bytes',
    'http_connections_num',
    'streams',
  ],
  stream: ['codec_type', 'codec_id', 'copy', 'bit_rate'],
};

/**
 * Every field that can be invalid, with its record, by the service's own name: the labels of
 * `xvs_exporter_invalid_fields_total`. The exporter does not read any other field, except for the `id` of a task.
 */
export const CHECKED_FIELDS: readonly (readonly [record: RecordKind, field: string])[] = RECORD_KINDS.flatMap(
  (record) => CHECKED_FIELDS_BY_RECORD[record].map((field) => [record, field] as const),
);
