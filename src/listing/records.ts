/*
 * The records that the reader extracts from a listing, with the fields that are counted and no others: no URL, user
 * name or `opaque` leaves the reader. `undefined` means that a field is missing: absent, `null`, an empty string, or
 * invalid. Byte counts, connections and sizes are integers from 0 to 2⁵³ − 1.
 */

/** An entry of `user_list` ("User"). */
export interface UserRecord {
  readonly vsId: string | undefined;
  readonly clientVersion: string | undefined;
  readonly deviceType: string | undefined;
  /** Whether `service_code` is present and not the polled one. */
  readonly isForeign: boolean;
}

/** An entry of `inputs` ("Input"). */
export interface InputRecord {
  /** 53-bit hash of `url` and `user_name`, which identify an input within its task. */
  readonly identity: number;
  /** One of a closed set; see `parseInputProtocol`. */
  readonly protocol: string;
  readonly deviceType: string | undefined;
  /** `device_version`; if that is missing, `client_version`. */
  readonly clientVersion: string | undefined;
  /** Bytes received so far. */
  readonly inputBytes: number | undefined;
}

/** An entry of `streams` ("Stream"), numbers as reported. */
export interface StreamRecord {
  readonly codecType: number | undefined;
  readonly codecId: number | undefined;
  readonly copy: number | undefined;
  readonly bitRate: number | undefined;
}

/** An entry of `outputs` ("Output"). */
export interface OutputRecord {
  readonly format: string | undefined;
  readonly relativeDir: string | undefined;
  readonly fileName: string | undefined;
  readonly tag: string | undefined;
  readonly audioCodecName: string | undefined;
  readonly videoCodecName: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** Bytes delivered so far. */
  readonly httpOutputBytes: number | undefined;
  readonly httpConnectionsNum: number | undefined;
  /** Empty if missing. */
  readonly streams: readonly StreamRecord[];
}

/** An entry of `task_list` ("Task"). */
export interface TaskRecord {
  readonly id: string;
  readonly vsId: string | undefined;
  /** A finite number from 0 on; the service's own demo page shows fractions. */
  readonly progress: number | undefined;
  /** Bytes received so far, at task level. */
  readonly inputBytes: number | undefined;
  /** Empty if missing. */
  readonly inputs: readonly InputRecord[];
  /** Empty if missing. */
  readonly outputs: readonly OutputRecord[];
  /** Whether `service_code` is present and not the polled one. */
  readonly isForeign: boolean;
}

/** The kind of a list entry: the `record` label of `xvs_exporter_invalid_records_total`. */
export type RecordKind = 'user' | 'task' | 'input' | 'output' | 'stream';

/** The kinds of records that can belong to another service code: the label of `xvs_exporter_foreign_records_total`. */
export const FOREIGN_RECORD_KINDS: readonly RecordKind[] = ['user', 'task'];

/**
 * Why an entry was rejected: the `reason` label. `missing_field`: a task has no `id`. `wrong_type`: the `id` of a task is
 * not a string. `too_long`: an entry of `user_list` or `task_list` exceeds the reader's buffer. `duplicate_id`: the
 * listing has an earlier task with the same id.
 */
export type InvalidReason = 'not_an_object' | 'missing_field' | 'wrong_type' | 'too_long' | 'duplicate_id';

const RECORD_KINDS = ['user', 'task', 'input', 'output', 'stream'] as const satisfies readonly RecordKind[];

/** Every pair that can occur; each is a series from the start. */
export const INVALID_RECORD_PAIRS: readonly (readonly [RecordKind, InvalidReason])[] = [
  ...RECORD_KINDS.map((record) => [record, 'not_an_object'] as const),
  ['task', 'missing_field'],
  ['task', 'wrong_type'],
  ['user', 'too_long'],
  ['task', 'too_long'],
  ['task', 'duplicate_id'],
];

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
