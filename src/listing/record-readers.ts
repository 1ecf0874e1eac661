import { FieldReader, type ElementReader } from './fields.ts';
import { protocolOf } from './protocol.ts';
import type {
  InputRecord,
  InvalidReason,
  OutputRecord,
  RecordKind,
  StreamRecord,
  TaskRecord,
  UserRecord,
} from './records.ts';
import type { Scanner } from './scanner.ts';

/** Where the reader puts what it reads, one record at a time. */
export interface ListingSink {
  user(record: UserRecord): void;
  task(record: TaskRecord): void;
  /** An entry that breaks the interface and was left out. */
  invalid(record: RecordKind, reason: InvalidReason): void;
}

/** Reads one element of `user_list` or `task_list` and hands it to the sink, whole or not at all. */
export type RecordReader = (scanner: Scanner, sink: ListingSink) => void;

const text = { kind: 'text' } as const;
const integer = { kind: 'integer' } as const;
const count = { kind: 'count' } as const;
const keptText = { kind: 'text', isKept: true } as const;
const keptInteger = { kind: 'integer', isKept: true } as const;
const keptCount = { kind: 'count', isKept: true } as const;
const keptTextOrInteger = { kind: 'text_or_integer', isKept: true } as const;

/** The entries of a list within the record being read, and those that it had to leave out. */
class Entries<T> implements ElementReader {
  records: T[] = [];
  invalid: [RecordKind, InvalidReason][] = [];
  readonly #kind: RecordKind;
  readonly #fields: FieldReader;
  readonly #makeRecord: () => T;
  readonly #nested: Entries<unknown> | undefined;

  constructor(kind: RecordKind, fields: FieldReader, makeRecord: () => T, nested?: Entries<unknown>) {
    this.#kind = kind;
    this.#fields = fields;
    this.#makeRecord = makeRecord;
    this.#nested = nested;
  }

  begin(): void {
    this.records = [];
    this.invalid = [];
  }

  read(scanner: Scanner): void {
    const problem = this.#fields.read(scanner);
    if (problem !== undefined) {
      this.invalid.push([this.#kind, problem]);
      return;
    }
    this.records.push(this.#makeRecord());
    if (this.#nested !== undefined) this.invalid.push(...this.#nested.invalid);
  }
}

/** Reads elements of `user_list` ("User"). */
export function userReader(): RecordReader {
  const fields = new FieldReader({
    vs_id: keptText,
    service_code: text,
    user_name: text,
    client_version: keptTextOrInteger,
    device_type: keptTextOrInteger,
    id: text,
  });
  return (scanner, sink) => {
    const problem = fields.read(scanner);
    if (problem !== undefined) return sink.invalid('user', problem);
    return sink.user({
      vsId: fields.text('vs_id'),
      clientVersion: fields.text('client_version'),
      deviceType: fields.text('device_type'),
    });
  };
}

/** Reads elements of `task_list` ("Task"). */
export function taskReader(): RecordReader {
  const inputs = inputEntries();
  const outputs = outputEntries();
  const fields = new FieldReader({
    id: { kind: 'text', isRequired: true, isKept: true },
    serial: integer,
    sequence: integer,
    progress: keptCount,
    vs_id: keptText,
    service_code: text,
    http_live_url: text,
    input_bytes: keptCount,
    opaque: text,
    inputs: { kind: 'list', isRequired: true, elements: inputs },
    outputs: { kind: 'list', isRequired: true, elements: outputs },
  });
  return (scanner, sink) => {
    const problem = fields.read(scanner);
    if (problem !== undefined) return sink.invalid('task', problem);
    for (const [record, reason] of [...inputs.invalid, ...outputs.invalid]) sink.invalid(record, reason);
    return sink.task({
      id: fields.text('id') ?? '',
      vsId: fields.text('vs_id'),
      progress: fields.number('progress'),
      inputBytes: fields.number('input_bytes'),
      inputs: inputs.records,
      outputs: outputs.records,
      invalidInputs: inputs.invalid.length,
    });
  };
}

function inputEntries(): Entries<InputRecord> {
  const fields = new FieldReader({
    url: keptText,
    service_code: text,
    user_name: text,
    device_type: keptTextOrInteger,
    device_version: keptTextOrInteger,
    client_version: keptTextOrInteger,
    input_bytes: keptCount,
  });
  return new Entries('input', fields, () => ({
    protocol: protocolOf(fields.text('url')),
    deviceType: fields.text('device_type'),
    clientVersion: fields.text('device_version') ?? fields.text('client_version'),
    inputBytes: fields.number('input_bytes'),
  }));
}

function outputEntries(): Entries<OutputRecord> {
  const streams = streamEntries();
  const fields = new FieldReader({
    file_name: keptText,
    relative_dir: text,
    tag: keptText,
    audio_codec_name: keptText,
    video_codec_name: keptText,
    format: keptText,
    width: keptCount,
    height: keptCount,
    http_output_bytes: { kind: 'count', isRequired: true, isKept: true },
    http_connections_num: { kind: 'count', isRequired: true, isKept: true },
    live_url: text,
    streams: { kind: 'list', isRequired: true, elements: streams },
  });
  const makeRecord = (): OutputRecord => ({
    format: fields.text('format'),
    fileName: fields.text('file_name'),
    tag: fields.text('tag'),
    audioCodecName: fields.text('audio_codec_name'),
    videoCodecName: fields.text('video_codec_name'),
    width: fields.number('width'),
    height: fields.number('height'),
    httpOutputBytes: fields.number('http_output_bytes') ?? 0,
    httpConnectionsNum: fields.number('http_connections_num') ?? 0,
    streams: streams.records,
  });
  return new Entries('output', fields, makeRecord, streams);
}

function streamEntries(): Entries<StreamRecord> {
  const fields = new FieldReader({
    index: integer,
    codec_type: keptInteger,
    codec_id: integer,
    copy: keptInteger,
    width: count,
    height: count,
    bit_rate: keptCount,
  });
  return new Entries('stream', fields, () => ({
    codecType: fields.number('codec_type'),
    copy: fields.number('copy'),
    bitRate: fields.number('bit_rate'),
  }));
}
