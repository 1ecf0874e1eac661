/**
 * What the reader makes of a listing: the fields that are counted, and nothing else. No URL, no user name
 * and no `opaque` gets past it. `undefined` is a field that was missing or `null`.
 */

/** An entry of `user_list` ("User"). */
export interface UserRecord {
  readonly vsId: string | undefined;
  readonly clientVersion: string | undefined;
  readonly deviceType: string | undefined;
}

/** An entry of `inputs` ("Input"). */
export interface InputRecord {
  /** The URL's scheme, one of a closed set; see `protocolOf`. */
  readonly protocol: string;
  readonly deviceType: string | undefined;
  readonly clientVersion: string | undefined;
  /** Bytes received so far. */
  readonly inputBytes: number | undefined;
}

/** An entry of `streams` ("Stream"), numbers as reported. */
export interface StreamRecord {
  readonly codecType: number | undefined;
  readonly copy: number | undefined;
  readonly bitRate: number | undefined;
}

/** An entry of `outputs` ("Output"). */
export interface OutputRecord {
  readonly format: string | undefined;
  readonly fileName: string | undefined;
  readonly tag: string | undefined;
  readonly audioCodecName: string | undefined;
  readonly videoCodecName: string | undefined;
  readonly width: number | undefined;
  readonly height: number | undefined;
  /** Bytes delivered so far. */
  readonly httpOutputBytes: number;
  readonly httpConnectionsNum: number;
  readonly streams: readonly StreamRecord[];
}

/** An entry of `task_list` ("Task"). */
export interface TaskRecord {
  readonly id: string;
  readonly vsId: string | undefined;
  readonly progress: number | undefined;
  /** Bytes received so far, as the task says itself. */
  readonly inputBytes: number | undefined;
  readonly inputs: readonly InputRecord[];
  readonly outputs: readonly OutputRecord[];
  /** Entries of `inputs` that were left out: a sum over `inputs` then is not whole. */
  readonly invalidInputs: number;
}

/** What an entry left out of a listing was: the `record` label of `xvs_exporter_invalid_records_total`. */
export type RecordKind = 'user' | 'task' | 'input' | 'output' | 'stream';

/**
 * Why it was left out: the `reason` label. `too_long` is an entry of `user_list` or `task_list` that takes
 * more bytes than the reader holds at once; `duplicate_id` a task whose id the listing had before.
 */
export type InvalidReason =
  'not_an_object' | 'missing_field' | 'wrong_type' | 'out_of_range' | 'too_long' | 'duplicate_id';

/** Every pair that can occur, so that each can be a series from the start. */
export const INVALID_RECORD_PAIRS: readonly (readonly [RecordKind, InvalidReason])[] = [
  ...(['user', 'task', 'input', 'output', 'stream'] as const).flatMap((record) =>
    (['not_an_object', 'wrong_type', 'out_of_range'] as const).map((reason) => [record, reason] as const),
  ),
  ['task', 'missing_field'],
  ['output', 'missing_field'],
  ['user', 'too_long'],
  ['task', 'too_long'],
  ['task', 'duplicate_id'],
];
