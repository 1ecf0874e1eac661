import { z } from 'zod';
import { parseInputProtocol, type RecordKind } from '../../src/listing/task-list.ts';
import { readableFields } from '../../src/listing/interface.ts';
import type { Listing } from '../../src/listing/listing.ts';
import type { InputRecord, OutputRecord, StreamRecord } from './listing-records.ts';
import { RecordListing } from './record-listing.ts';
import { hashTexts } from './text-hash.ts';

const objectSchema = z.record(z.string(), z.unknown());

/** Validates the entries of two parsed lists by the schema. The reader must read the same listing. */
export function validateListing(
  userList: readonly unknown[],
  taskList: readonly unknown[],
  serviceCode: string,
): Listing {
  const listing = new RecordListing();
  for (const entry of userList) addUser(entry, serviceCode, listing);
  for (const entry of taskList) addTask(entry, serviceCode, listing);
  return listing.listing;
}

/** Parses an entry without its invalid fields and reports those; returns `undefined` if the entry is not an object. */
function parseFields<K extends RecordKind>(
  record: K,
  entry: unknown,
  listing: RecordListing,
): z.infer<(typeof readableFields)[K]> | undefined {
  const { data: fields } = objectSchema.safeParse(entry);
  if (fields === undefined) {
    listing.addInvalid(record, 'not_an_object');
    return undefined;
  }
  const schema = readableFields[record];
  const valid: Record<string, unknown> = {};
  for (const [name, field] of Object.entries<z.ZodType>(schema.shape)) {
    if (field.safeParse(fields[name]).success) valid[name] = fields[name];
    else listing.addInvalidField(record, name);
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

function addUser(entry: unknown, serviceCode: string, listing: RecordListing): void {
  const user = parseFields('user', entry, listing);
  if (user === undefined) return;
  listing.addUser({
    vsId: toText(user.vs_id),
    clientVersion: toText(user.client_version),
    deviceType: toText(user.device_type),
    isForeign: isForeignCode(user.service_code, serviceCode),
  });
}

function addTask(entry: unknown, serviceCode: string, listing: RecordListing): void {
  const { data: identified } = z.looseObject({ id: z.string().min(1) }).safeParse(entry);
  if (identified === undefined) {
    // The schema does not classify rejected entries.
    listing.addInvalid('task', 'not_an_object');
    return;
  }
  const task = parseFields('task', entry, listing);
  if (task === undefined) return;
  listing.addTask({
    id: identified.id,
    vsId: toText(task.vs_id),
    progress: toNumber(task.progress),
    inputBytes: toNumber(task.input_bytes),
    inputs: readList(task.inputs, (input) => readInput(input, listing)),
    outputs: readList(task.outputs, (output) => readOutput(output, listing)),
    isForeign: isForeignCode(task.service_code, serviceCode),
  });
}

function readList<T>(list: unknown[] | null | undefined, read: (entry: unknown) => T | undefined): T[] {
  return (list ?? []).map(read).filter((record) => record !== undefined);
}

function readInput(entry: unknown, listing: RecordListing): InputRecord | undefined {
  const input = parseFields('input', entry, listing);
  if (input === undefined) return undefined;
  return {
    identity: hashTexts([toText(input.url), toText(input.user_name)]),
    protocol: parseInputProtocol(toText(input.url)),
    deviceType: toText(input.device_type),
    clientVersion: toText(input.device_version) ?? toText(input.client_version),
    inputBytes: toNumber(input.input_bytes),
  };
}

function readOutput(entry: unknown, listing: RecordListing): OutputRecord | undefined {
  const output = parseFields('output', entry, listing);
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
    streams: readList(output.streams, (stream) => readStream(stream, listing)),
  };
}

function readStream(entry: unknown, listing: RecordListing): StreamRecord | undefined {
  const stream = parseFields('stream', entry, listing);
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
