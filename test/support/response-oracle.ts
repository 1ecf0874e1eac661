import { z } from 'zod';
import { parseInputProtocol, type RecordKind } from '../../src/listing/task-list.ts';
import { readableFields } from '../../src/listing/interface.ts';
import type { Listing } from '../../src/listing/listing.ts';
import type { InputRecord, OutputRecord, StreamRecord } from './listing-records.ts';
import { RecordListing } from './record-listing.ts';
import { hashTexts } from './text-hash.ts';
import { POLLED_CODE } from './read-listing.ts';

/** The expected result of reading a body, computed with `JSON.parse` and the schema. */
export type ExpectedOutcome =
  | { readonly kind: 'not_json' | 'bad_shape' }
  | { readonly kind: 'refusal'; readonly ret: number }
  | { readonly kind: 'listing'; readonly listing: Listing };

const LISTS = ['user_list', 'task_list'] as const;

/**
 * Computes the expected result of a body. A duplicate member makes it invalid; the first `ret` still counts.
 */
export function computeExpectedOutcome(body: Buffer): ExpectedOutcome {
  const text = body.toString();
  const value = parseJson(text);
  if (value === undefined) return { kind: 'not_json' };
  if (typeof value.json !== 'object' || value.json === null || Array.isArray(value.json))
    return { kind: 'bad_shape' };
  const members = listTopLevelMembers(text);
  const first = new Map(members.toReversed());
  const ret = parseRet(first.get('ret'));
  if (ret !== undefined && ret !== 0) return { kind: 'refusal', ret };
  const isOnce = ['ret', ...LISTS].every((name) => members.filter(([key]) => key === name).length === 1);
  const [users, tasks] = LISTS.map((name) => first.get(name));
  if (ret === undefined || !isOnce || !Array.isArray(users) || !Array.isArray(tasks))
    return { kind: 'bad_shape' };
  return { kind: 'listing', listing: validateListing(users, tasks, POLLED_CODE) };
}

export function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}

function parseJson(text: string): { readonly json: unknown } | undefined {
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Parses `ret`: an integer, or a string of digits ("Response object" in the interface specification). */
function parseRet(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?[0-9]+$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : undefined;
}

/** Lists the members of the outermost object of a JSON text in order, including duplicates. */
function listTopLevelMembers(text: string): [key: string, value: unknown][] {
  const members: [string, unknown][] = [];
  let [depth, key, start] = [0, '', 0];
  const close = (end: number): void => {
    if (text.slice(start, end).trim() !== '') members.push([key, JSON.parse(text.slice(start, end))]);
    start = end + 1;
  };
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') {
      at = findEndOfString(text, at);
    } else if (character === '{' || character === '[') {
      depth += 1;
      if (depth === 1) start = at + 1;
    } else if (character === '}' || character === ']') {
      depth -= 1;
      if (depth === 0) close(at);
    } else if (character === ',' && depth === 1) {
      close(at);
    } else if (character === ':' && depth === 1) {
      key = String(JSON.parse(text.slice(start, at)));
      start = at + 1;
    }
  }
  return members;
}

/** Returns the offset of the closing quote of a string. */
function findEndOfString(text: string, quote: number): number {
  let at = quote + 1;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

const objectSchema = z.record(z.string(), z.unknown());

/** Validates the entries of two parsed lists by the schema. The reader must read the same listing. */
function validateListing(
  userList: readonly unknown[],
  taskList: readonly unknown[],
  serviceCode: string,
): Listing {
  const listing = new RecordListing();
  for (const entry of userList) addUser(entry, serviceCode, listing);
  for (const entry of taskList) addTask(entry, serviceCode, listing);
  return listing.listing;
}

type Problems = Pick<RecordListing, 'addInvalid' | 'addInvalidField'>;

/**
 * Parses an entry without its invalid fields and reports those; returns `undefined` if the entry is not an
 * object.
 */
function parseFields<K extends RecordKind>(
  record: K,
  entry: unknown,
  listing: Problems,
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
  // Of a task that is rejected, only invalid fields count.
  const problems: Problems =
    listing.findRejection(identified.id) === undefined
      ? listing
      : {
          addInvalid: () => undefined,
          addInvalidField: (record, field) => {
            listing.addInvalidField(record, field);
          },
        };
  listing.addTask({
    id: identified.id,
    vsId: toText(task.vs_id),
    progress: toNumber(task.progress),
    inputBytes: toNumber(task.input_bytes),
    inputs: readList(task.inputs, (input) => readInput(input, problems)),
    outputs: readList(task.outputs, (output) => readOutput(output, problems)),
    isForeign: isForeignCode(task.service_code, serviceCode),
  });
}

function readList<T>(list: unknown[] | null | undefined, read: (entry: unknown) => T | undefined): T[] {
  return (list ?? []).map(read).filter((record) => record !== undefined);
}

function readInput(entry: unknown, listing: Problems): InputRecord | undefined {
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

function readOutput(entry: unknown, listing: Problems): OutputRecord | undefined {
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

function readStream(entry: unknown, listing: Problems): StreamRecord | undefined {
  const stream = parseFields('stream', entry, listing);
  if (stream === undefined) return undefined;
  return {
    codecType: toNumber(stream.codec_type),
    codecId: toNumber(stream.codec_id),
    copy: toNumber(stream.copy),
    bitRate: toNumber(stream.bit_rate),
  };
}
