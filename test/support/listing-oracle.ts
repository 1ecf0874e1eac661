import { z } from 'zod';
import {
  inputSchema,
  outputSchema,
  streamSchema,
  taskSchema,
  userSchema,
} from '../../src/listing/interface.ts';
import { protocolOf } from '../../src/listing/protocol.ts';
import type {
  InputRecord,
  OutputRecord,
  RecordKind,
  StreamRecord,
  TaskRecord,
  UserRecord,
} from '../../src/listing/records.ts';

/** What a sink was given, or should have been. Of an entry left out, only its kind: reasons are worded apart. */
export interface Collected {
  readonly users: UserRecord[];
  readonly tasks: TaskRecord[];
  readonly invalid: RecordKind[];
}

const unreadList = z.array(z.unknown());
const taskAlone = taskSchema.extend({ inputs: unreadList, outputs: unreadList });
const outputAlone = outputSchema.extend({ streams: unreadList });

const asText = (value: string | number | null | undefined): string | undefined =>
  value === null || value === undefined ? undefined : String(value);
const asNumber = (value: number | null | undefined): number | undefined => value ?? undefined;

/** Reads the records of two parsed lists by the schema, entry for entry: what the reader must agree with. */
export function judge(userList: readonly unknown[], taskList: readonly unknown[]): Collected {
  const all: Collected = { users: [], tasks: [], invalid: [] };
  for (const entry of userList) judgeUser(entry, all);
  for (const entry of taskList) judgeTask(entry, all);
  return all;
}

function judgeUser(entry: unknown, all: Collected): void {
  const { success, data } = userSchema.safeParse(entry);
  if (!success) {
    all.invalid.push('user');
    return;
  }
  all.users.push({
    vsId: asText(data.vs_id),
    clientVersion: asText(data.client_version),
    deviceType: asText(data.device_type),
  });
}

function judgeTask(entry: unknown, all: Collected): void {
  const { success, data } = taskAlone.safeParse(entry);
  if (!success) {
    all.invalid.push('task');
    return;
  }
  const inputs = data.inputs.map(judgeInput).filter((input) => input !== undefined);
  const outputs = data.outputs
    .map((output) => judgeOutput(output, all))
    .filter((output) => output !== undefined);
  const invalidInputs = data.inputs.length - inputs.length;
  for (let count = 0; count < invalidInputs; count += 1) all.invalid.push('input');
  all.tasks.push({
    id: data.id,
    vsId: asText(data.vs_id),
    progress: asNumber(data.progress),
    inputBytes: asNumber(data.input_bytes),
    inputs,
    outputs,
    invalidInputs,
  });
}

function judgeInput(entry: unknown): InputRecord | undefined {
  const { success, data } = inputSchema.safeParse(entry);
  if (!success) return undefined;
  return {
    protocol: protocolOf(asText(data.url)),
    deviceType: asText(data.device_type),
    clientVersion: asText(data.device_version) ?? asText(data.client_version),
    inputBytes: asNumber(data.input_bytes),
  };
}

function judgeOutput(entry: unknown, all: Collected): OutputRecord | undefined {
  const { success, data } = outputAlone.safeParse(entry);
  if (!success) {
    all.invalid.push('output');
    return undefined;
  }
  const streams = data.streams.map(judgeStream).filter((stream) => stream !== undefined);
  for (let count = streams.length; count < data.streams.length; count += 1) all.invalid.push('stream');
  return {
    format: asText(data.format),
    fileName: asText(data.file_name),
    tag: asText(data.tag),
    audioCodecName: asText(data.audio_codec_name),
    videoCodecName: asText(data.video_codec_name),
    width: asNumber(data.width),
    height: asNumber(data.height),
    httpOutputBytes: data.http_output_bytes,
    httpConnectionsNum: data.http_connections_num,
    streams,
  };
}

function judgeStream(entry: unknown): StreamRecord | undefined {
  const { success, data } = streamSchema.safeParse(entry);
  if (!success) return undefined;
  return {
    codecType: asNumber(data.codec_type),
    copy: asNumber(data.copy),
    bitRate: asNumber(data.bit_rate),
  };
}
