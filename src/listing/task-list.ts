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
  type RecordType,
  type TextColumn,
} from './engine/fields.ts';
import { FAMILIES, type FamilyName, type LabelOf } from './families.ts';
import { RECORD_KINDS, type RecordKind } from './records.ts';
import type { ListLimits } from './reader-limits.ts';
import type { TaskNameField } from './task-name.ts';

/** A label field, and the label of a family that its values are for: once that is full, no new values are needed. */
interface LabelField extends Field<Uint32Array> {
  readonly family: FamilyName;
  /** Place among the labels of the family. */
  readonly label: number;
}

function feeds<F extends FamilyName>(field: Field<Uint32Array>, family: F, name: LabelOf<F>): LabelField {
  const labels: readonly string[] = FAMILIES[family].labels;
  return { ...field, family, label: labels.indexOf(name) };
}

/**
 * The fields of a `task_list` response, in the order in which the service writes them. `nameField` holds the names of tasks;
 * without it, no name leaves the reader.
 */
export function createTaskListTable(limits: ListLimits, nameField?: TaskNameField) {
  const name = (own: TaskNameField, otherwise: Field<undefined>): Field<TextColumn | undefined> =>
    nameField === own ? text : otherwise;
  const user = record('user', {
    vs_id: feeds(label, 'userServers', 'vs_id'),
    service_code: match,
    user_name: unused,
    client_version: feeds(labelOrInteger, 'users', 'client_version'),
    device_type: feeds(labelOrInteger, 'users', 'device_type'),
    id: unused,
  });
  const input = record(
    'input',
    {
      url: scheme,
      service_code: unused,
      user_name: name('user_name', identifying),
      device_type: feeds(labelOrInteger, 'inputClients', 'device_type'),
      device_version: feeds(labelOrInteger, 'inputClients', 'client_version'),
      client_version: feeds(labelOrInteger, 'inputClients', 'client_version'),
      input_bytes: count,
    },
    ['url', 'user_name'],
  );
  const stream = record('stream', {
    index: unused,
    codec_type: integer,
    codec_id: feeds(integerLabel, 'codecs', 'codec_id'),
    copy: integer,
    width: count,
    height: count,
    bit_rate: count,
  });
  const output = record(
    'output',
    {
      file_name: name('file_name', identifying),
      tag: feeds(label, 'tags', 'tag'),
      audio_codec_name: feeds(label, 'renditions', 'audio_codec'),
      video_codec_name: feeds(label, 'renditions', 'video_codec'),
      format: feeds(label, 'outputs', 'format'),
      width: feeds(countLabel, 'renditions', 'resolution'),
      height: feeds(countLabel, 'renditions', 'resolution'),
      relative_dir: name('relative_dir', identifying),
      http_output_bytes: count,
      http_connections_num: count,
      streams: list(stream, limits.maxStreamsPerOutput),
      live_url: unused,
    },
    ['format', 'relative_dir', 'file_name'],
  );
  const task = record('task', {
    id: required(text),
    serial: unused,
    sequence: unused,
    progress: number,
    vs_id: feeds(label, 'servers', 'vs_id'),
    service_code: match,
    inputs: list(input, limits.maxInputsPerTask),
    outputs: list(output, limits.maxOutputsPerTask),
    http_live_url: unused,
    input_bytes: count,
    opaque: name('opaque', unused),
  });
  const body = record('listing', { ret: scalar, user_list: list(user, 0), task_list: list(task, 0) });
  return { body, user, task, input, output, stream };
}

export type TaskListTable = ReturnType<typeof createTaskListTable>;
export type Users = ColumnsOf<TaskListTable['user']>;
export type Tasks = ColumnsOf<TaskListTable['task']>;
export type Inputs = ColumnsOf<TaskListTable['input']>;
export type Outputs = ColumnsOf<TaskListTable['output']>;
export type Streams = ColumnsOf<TaskListTable['stream']>;

/** A label field of a record type. */
interface PlacedLabelField extends LabelField {
  readonly type: RecordType;
  readonly name: string;
}

/** The label fields of a table that are for a family. */
export function listLabelFields(table: TaskListTable): readonly PlacedLabelField[] {
  return RECORD_KINDS.map((kind): RecordType => table[kind]).flatMap((type) =>
    Object.entries(type.fields).flatMap(([name, field]) =>
      isLabelField(field) ? [{ ...field, type, name }] : [],
    ),
  );
}

function isLabelField(field: Field<unknown>): field is LabelField {
  return 'family' in field;
}

/**
 * Every field that can be invalid, with its record, by the service's own name: the labels of
 * `xvs_exporter_invalid_fields_total`. The exporter does not read any other field, except for the `id` of a task.
 */
export const CHECKED_FIELDS: readonly (readonly [record: RecordKind, field: string])[] = (() => {
  const table = createTaskListTable({ maxStreamsPerOutput: 0, maxInputsPerTask: 0, maxOutputsPerTask: 0 });
  return RECORD_KINDS.flatMap((kind) =>
    listCheckedFields(table[kind]).map((field) => [kind, field] as const),
  );
})();
