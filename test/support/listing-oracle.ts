import { z } from 'zod';
import { parseInputProtocol } from '../../src/listing/task-list.ts';
import { readableFields } from '../../src/listing/interface.ts';
import type { RecordKind } from '../../src/listing/listing-sink.ts';
import type { InputRecord, OutputRecord, StreamRecord, TaskRecord, UserRecord } from './listing-records.ts';
import { hashTexts } from './text-hash.ts';

/** The records that a sink must receive, without the reasons of rejected entries. */
export interface CollectedRecords {
  readonly users: UserRecord[];
  readonly tasks: TaskRecord[];
  readonly invalid: RecordKind[];
  /** In the form `record.field`. */
  readonly invalidFields: string[];
}

const objectSchema = z.record(z.string(), z.unknown());

/** Validates the entries of two parsed lists by the schema. The reader must return the same records. */
export function collectValidRecords(
  userList: readonly unknown[],
  taskList: readonly unknown[],
  serviceCode: string,
): CollectedRecords {
  const all: CollectedRecords = { users: [], tasks: [], invalid: [], invalidFields: [] };
  for (const entry of userList) collectUser(entry, serviceCode, all);
  for (const entry of taskList) collectTask(entry, serviceCode, all);
  return all;
}

/** Parses an entry without its invalid fields and reports those; returns `undefined` if the entry is not an object. */
function parseFields<K extends RecordKind>(
  record: K,
  entry: unknown,
  all: Pick<CollectedRecords, 'invalid' | 'invalidFields'>,
): z.infer<(typeof readableFields)[K]> | undefined {
  const { data: fields } = objectSchema.safeParse(entry);
  if (fields === undefined) {
    all.invalid.push(record);
    return undefined;
  }
  const schema = readableFields[record];
  const valid: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<z.ZodType>(schema.shape)) {
    if (field.safeParse(fields[name]).success) valid[name] = fields[name];
    else all.invalidFields.push(`${record}.${name}`);
  }
  // TypeScript does not relate a schema to its output type through a type parameter.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return schema.parse(valid) as z.infer<(typeof readableFields)[K]>;
}

const toText = (value: string | number | null | undefined): string | undefined =>
  value === null || value === undefined ? undefined : String(value);
const toNumber = (value: number | null | undefined): number | undefined => value ?? undefined;
const isForeignCode = (code: string | null | undefined, polledCode: string): boolean =>
  code !== null && code !== undefined && code !== polledCode;

function collectUser(entry: unknown, serviceCode: string, all: CollectedRecords): void {
  const user = parseFields('user', entry, all);
  if (user === undefined) return;
  all.users.push({
    vsId: toText(user.vs_id),
    clientVersion: toText(user.client_version),
    deviceType: toText(user.device_type),
    isForeign: isForeignCode(user.service_code, serviceCode),
  });
}

function collectTask(entry: unknown, serviceCode: string, all: CollectedRecords): void {
  const { data: identified } = z.looseObject({ id: z.string().min(1) }).safeParse(entry);
  if (identified === undefined) {
    all.invalid.push('task');
    return;
  }
  const task = parseFields('task', entry, all);
  if (task === undefined) return;
  all.tasks.push({
    id: identified.id,
    vsId: toText(task.vs_id),
    progress: toNumber(task.progress),
    inputBytes: toNumber(task.input_bytes),
    inputs: readList(task.inputs, (input) => readInput(input, all)),
    outputs: readList(task.outputs, (output) => readOutput(output, all)),
    isForeign: isForeignCode(task.service_code, serviceCode),
  });
}

function readList<T>(list: unknown[] | null | undefined, read: (entry: unknown) => T | undefined): T[] {
  return (list ?? []).map(read).filter((record) => record !== undefined);
}

function readInput(entry: unknown, all: CollectedRecords): InputRecord | undefined {
  const input = parseFields('input', entry, all);
  if (input === undefined) return undefined;
  return {
    identity: hashTexts([toText(input.url), toText(input.user_name)]),
    protocol: parseInputProtocol(toText(input.url)),
    deviceType: toText(input.device_type),
    clientVersion: toText(input.device_version) ?? toText(input.client_version),
    inputBytes: toNumber(input.input_bytes),
  };
}

function readOutput(entry: unknown, all: CollectedRecords): OutputRecord | undefined {
  const output = parseFields('output', entry, all);
  if (output === undefined) return undefined;
  return {
    format: toText(output.format),
    relativeDir: toText(output.relative_dir),
    fileName: toText(output.file_name),
    tag: toText(output.tag),
    audioCodecName: toText(output.audio_codec_name),
    videoCodecName: toText(output.video_codec_name),
    width: toNumber(output.width),
    height: toNumber(output.height),
    httpOutputBytes: toNumber(output.http_output_bytes),
    httpConnectionsNum: toNumber(output.http_connections_num),
    streams: readList(output.streams, (stream) => readStream(stream, all)),
  };
}

function readStream(entry: unknown, all: CollectedRecords): StreamRecord | undefined {
  const stream = parseFields('stream', entry, all);
  if (stream === undefined) return undefined;
  return {
    codecType: toNumber(stream.codec_type),
    codecId: toNumber(stream.codec_id),
    copy: toNumber(stream.copy),
    width: toNumber(stream.width),
    height: toNumber(stream.height),
    bitRate: toNumber(stream.bit_rate),
  };
}
