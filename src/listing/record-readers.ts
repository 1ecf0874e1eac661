import { FieldReader, type ElementReader } from './fields.ts';
import type { Interner } from './interner.ts';
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
const label = { kind: 'text', keep: 'repeated' } as const;
const labelOrInteger = { kind: 'text_or_integer', keep: 'repeated' } as const;
const singleText = { kind: 'text', keep: 'single' } as const;
const keptInteger = { kind: 'integer', keep: 'single' } as const;
const keptCount = { kind: 'count', keep: 'single' } as const;

type RecordFields = Pick<FieldReader<never>, 'read'>;

/** The entries of a list within the record being read, and those that it had to leave out. */
class Entries<T> implements ElementReader {
  records: T[] = [];
  invalid: [RecordKind, InvalidReason][] = [];
  readonly #kind: RecordKind;
  readonly #fields: RecordFields;
  readonly #makeRecord: () => T;
  readonly #nested: Entries<unknown> | undefined;

  constructor(kind: RecordKind, fields: RecordFields, makeRecord: () => T, nested?: Entries<unknown>) {
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
export function userReader(interner: Interner): RecordReader {
  const fields = new FieldReader(
    {
      vs_id: label,
      service_code: text,
      user_name: text,
      client_version: labelOrInteger,
      device_type: labelOrInteger,
      id: text,
    },
    interner,
  );
  const vsId = fields.slot('vs_id');
  const clientVersion = fields.slot('client_version');
  const deviceType = fields.slot('device_type');
  return (scanner, sink) => {
    const problem = fields.read(scanner);
    if (problem !== undefined) return sink.invalid('user', problem);
    return sink.user({ vsId: vsId.text, clientVersion: clientVersion.text, deviceType: deviceType.text });
  };
}

/** Reads elements of `task_list` ("Task"). */
export function taskReader(interner: Interner): RecordReader {
  const inputs = inputEntries(interner);
  const outputs = outputEntries(interner);
  const fields = new FieldReader(
    {
      id: { kind: 'text', isRequired: true, keep: 'single' },
      serial: integer,
      sequence: integer,
      progress: keptCount,
      vs_id: label,
      service_code: text,
      inputs: { kind: 'list', isRequired: true, elements: inputs },
      outputs: { kind: 'list', isRequired: true, elements: outputs },
      http_live_url: text,
      input_bytes: keptCount,
      opaque: text,
    },
    interner,
  );
  const id = fields.slot('id');
  const vsId = fields.slot('vs_id');
  const progress = fields.slot('progress');
  const inputBytes = fields.slot('input_bytes');
  return (scanner, sink) => {
    const problem = fields.read(scanner);
    if (problem !== undefined) return sink.invalid('task', problem);
    for (const [record, reason] of inputs.invalid) sink.invalid(record, reason);
    for (const [record, reason] of outputs.invalid) sink.invalid(record, reason);
    return sink.task({
      id: id.text ?? '',
      vsId: vsId.text,
      progress: progress.number,
      inputBytes: inputBytes.number,
      inputs: inputs.records,
      outputs: outputs.records,
      invalidInputs: inputs.invalid.length,
    });
  };
}

function inputEntries(interner: Interner): Entries<InputRecord> {
  const fields = new FieldReader(
    {
      url: singleText,
      service_code: text,
      user_name: text,
      device_type: labelOrInteger,
      device_version: labelOrInteger,
      client_version: labelOrInteger,
      input_bytes: keptCount,
    },
    interner,
  );
  const url = fields.slot('url');
  const deviceType = fields.slot('device_type');
  const deviceVersion = fields.slot('device_version');
  const clientVersion = fields.slot('client_version');
  const inputBytes = fields.slot('input_bytes');
  return new Entries('input', fields, () => ({
    protocol: protocolOf(url.text),
    deviceType: deviceType.text,
    clientVersion: deviceVersion.text ?? clientVersion.text,
    inputBytes: inputBytes.number,
  }));
}

function outputEntries(interner: Interner): Entries<OutputRecord> {
  const streams = streamEntries(interner);
  const fields = new FieldReader(
    {
      file_name: singleText,
      tag: label,
      audio_codec_name: label,
      video_codec_name: label,
      format: label,
      width: keptCount,
      height: keptCount,
      relative_dir: text,
      http_output_bytes: { kind: 'count', isRequired: true, keep: 'single' },
      http_connections_num: { kind: 'count', isRequired: true, keep: 'single' },
      streams: { kind: 'list', isRequired: true, elements: streams },
      live_url: text,
    },
    interner,
  );
  const format = fields.slot('format');
  const fileName = fields.slot('file_name');
  const tag = fields.slot('tag');
  const audioCodecName = fields.slot('audio_codec_name');
  const videoCodecName = fields.slot('video_codec_name');
  const width = fields.slot('width');
  const height = fields.slot('height');
  const httpOutputBytes = fields.slot('http_output_bytes');
  const httpConnectionsNum = fields.slot('http_connections_num');
  const makeRecord = (): OutputRecord => ({
    format: format.text,
    fileName: fileName.text,
    tag: tag.text,
    audioCodecName: audioCodecName.text,
    videoCodecName: videoCodecName.text,
    width: width.number,
    height: height.number,
    httpOutputBytes: httpOutputBytes.number ?? 0,
    httpConnectionsNum: httpConnectionsNum.number ?? 0,
    streams: streams.records,
  });
  return new Entries('output', fields, makeRecord, streams);
}

function streamEntries(interner: Interner): Entries<StreamRecord> {
  const fields = new FieldReader(
    {
      index: integer,
      codec_type: keptInteger,
      codec_id: integer,
      copy: keptInteger,
      width: count,
      height: count,
      bit_rate: keptCount,
    },
    interner,
  );
  const codecType = fields.slot('codec_type');
  const copy = fields.slot('copy');
  const bitRate = fields.slot('bit_rate');
  return new Entries('stream', fields, () => ({
    codecType: codecType.number,
    copy: copy.number,
    bitRate: bitRate.number,
  }));
}
