import { ReadingRoom } from './backlog.ts';
import { FieldReader } from './fields.ts';
import { Interner } from './interner.ts';
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
import { Scanner } from './scanner.ts';
import type { ElementReader } from './slot.ts';

/** Where the reader puts what it reads, one record at a time. */
export interface ListingSink {
  /** The record holds until the next one. */
  user(record: UserRecord): void;
  task(record: TaskRecord): void;
  /** An entry that breaks the interface and was left out. */
  invalid(record: RecordKind, reason: InvalidReason): void;
}

/** Reads one element of `user_list` or `task_list` and hands it to the sink, whole or not at all. */
type RecordReader = (scanner: Scanner, sink: ListingSink) => void;

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

/**
 * What reads the records of listings. It keeps nothing of a body between two calls but what makes the next one faster:
 * the strings and the orders of keys that it has seen. All readers of a process can share it.
 */
export class RecordReaders {
  readonly scanner = new Scanner();
  readonly room = new ReadingRoom();
  readonly #interner = new Interner();
  readonly user_list = userReader(this.#interner);
  readonly task_list = taskReader(this.#interner);
}

/** Reads elements of `user_list` ("User"). */
function userReader(interner: Interner): RecordReader {
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
  const { content } = fields;
  // One object for all: a million of them, each a moment old, would be most of the work of the garbage collector.
  const record: { -readonly [K in keyof UserRecord]: UserRecord[K] } = {
    vsId: undefined,
    clientVersion: undefined,
    deviceType: undefined,
  };
  return (scanner, sink) => {
    const problem = fields.read(scanner);
    if (problem !== undefined) return sink.invalid('user', problem);
    record.vsId = content.vs_id.text;
    record.clientVersion = content.client_version.text;
    record.deviceType = content.device_type.text;
    return sink.user(record);
  };
}

/** Reads elements of `task_list` ("Task"). */
function taskReader(interner: Interner): RecordReader {
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
  const { content } = fields;
  return (scanner, sink) => {
    const problem = fields.read(scanner);
    if (problem !== undefined) return sink.invalid('task', problem);
    for (const [record, reason] of inputs.invalid) sink.invalid(record, reason);
    for (const [record, reason] of outputs.invalid) sink.invalid(record, reason);
    return sink.task({
      id: content.id.text ?? '',
      vsId: content.vs_id.text,
      progress: content.progress.number,
      inputBytes: content.input_bytes.number,
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
  const { content } = fields;
  return new Entries('input', fields, () => ({
    protocol: protocolOf(content.url.text),
    deviceType: content.device_type.text,
    clientVersion: content.device_version.text ?? content.client_version.text,
    inputBytes: content.input_bytes.number,
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
  const { content } = fields;
  const makeRecord = (): OutputRecord => ({
    format: content.format.text,
    fileName: content.file_name.text,
    tag: content.tag.text,
    audioCodecName: content.audio_codec_name.text,
    videoCodecName: content.video_codec_name.text,
    width: content.width.number,
    height: content.height.number,
    httpOutputBytes: content.http_output_bytes.number ?? 0,
    httpConnectionsNum: content.http_connections_num.number ?? 0,
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
  const { content } = fields;
  return new Entries('stream', fields, () => ({
    codecType: content.codec_type.number,
    copy: content.copy.number,
    bitRate: content.bit_rate.number,
  }));
}
