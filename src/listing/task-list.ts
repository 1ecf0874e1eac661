import {
  count,
  countLabel,
  identifying,
  integer,
  integerLabel,
  label,
  labelOrInteger,
  list,
  listCheckedFields,
  match,
  number,
  record,
  required,
  scalar,
  scheme,
  text,
  unused,
  type ColumnsOf,
  type Field,
  type TextColumn,
} from '../json-columns/fields.ts';
import type { TaskNameField } from './task-name.ts';

/** The kind of a list entry: the `record` label of `xvs_exporter_invalid_records_total`. */
export type RecordKind = 'user' | 'task' | 'input' | 'output' | 'stream';

export const RECORD_KINDS = [
  'user',
  'task',
  'input',
  'output',
  'stream',
] as const satisfies readonly RecordKind[];

/** The fields of a `task_list` response, in its order; `nameField` holds the names of tasks. */
export function createTaskListTable(maxParts: number, nameField?: TaskNameField) {
  const name = (own: TaskNameField, otherwise: Field<undefined>): Field<TextColumn | undefined> =>
    nameField === own ? text : otherwise;
  const user = record('user', {
    vs_id: label,
    service_code: match,
    user_name: unused,
    client_version: labelOrInteger,
    device_type: labelOrInteger,
    id: unused,
  });
  const input = record(
    'input',
    {
      url: scheme,
      service_code: unused,
      user_name: name('user_name', identifying),
      device_type: labelOrInteger,
      device_version: labelOrInteger,
      client_version: labelOrInteger,
      input_bytes: count,
    },
    ['url', 'user_name'],
  );
  const stream = record('stream', {
    index: unused,
    codec_type: integer,
    codec_id: integerLabel,
    copy: integer,
    width: unused,
    height: unused,
    bit_rate: count,
  });
  const output = record(
    'output',
    {
      file_name: name('file_name', identifying),
      tag: label,
      audio_codec_name: label,
      video_codec_name: label,
      format: label,
      width: countLabel,
      height: countLabel,
      relative_dir: name('relative_dir', identifying),
      http_output_bytes: count,
      http_connections_num: count,
      streams: list(stream, maxParts),
      live_url: unused,
    },
    ['format', 'relative_dir', 'file_name'],
  );
  const task = record('task', {
    id: required(text),
    serial: unused,
    sequence: unused,
    progress: number,
    vs_id: label,
    service_code: match,
    inputs: list(input, maxParts),
    outputs: list(output, maxParts),
    http_live_url: unused,
    input_bytes: count,
    opaque: name('opaque', unused),
  });
  const body = record('listing', { ret: scalar, user_list: list(user, 0), task_list: list(task, 0) });
  return { body, user, task, input, output, stream };
}

export type TaskListTable = ReturnType<typeof createTaskListTable>;
type Users = ColumnsOf<TaskListTable['user']>;
export type Tasks = ColumnsOf<TaskListTable['task']>;
export type Inputs = ColumnsOf<TaskListTable['input']>;
export type Outputs = ColumnsOf<TaskListTable['output']>;
type Streams = ColumnsOf<TaskListTable['stream']>;

export interface ColumnsByRecord extends Record<RecordKind, unknown> {
  readonly user: Users;
  readonly task: Tasks;
  readonly input: Inputs;
  readonly output: Outputs;
  readonly stream: Streams;
}

/**
 * Every field that can be invalid, by record and the service's own name: the labels of
 * `xvs_exporter_invalid_fields_total`. The exporter reads no other field, except for the `id` of a task.
 */
export const CHECKED_FIELDS: readonly (readonly [record: RecordKind, field: string])[] = (() => {
  const table = createTaskListTable(0);
  return RECORD_KINDS.flatMap((kind) =>
    listCheckedFields(table[kind]).map((field) => [kind, field] as const),
  );
})();

const KNOWN_SCHEMES: ReadonlySet<string> = new Set([
  'file',
  'ftp',
  'hls',
  'http',
  'https',
  'mms',
  'rtmp',
  'rtmps',
  'rtp',
  'rtsp',
  'rtsps',
  'srt',
  'tcp',
  'udp',
  'webrtc',
]);

/**
 * The protocol of an input from its URL ("Input", `url`): a scheme of a closed set, else `other`;
 * `tcp_upload` if empty, `unknown` if missing. Nothing but the scheme of a URL leaves the reader.
 */
export function parseInputProtocol(url: string | undefined): string {
  if (url === undefined) return 'unknown';
  if (url === '') return 'tcp_upload';
  const protocol = /^([a-z][a-z0-9+.-]*):/i.exec(url)?.[1]?.toLowerCase();
  return protocol !== undefined && KNOWN_SCHEMES.has(protocol) ? protocol : 'other';
}
