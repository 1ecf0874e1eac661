import { ScratchBuffer } from './input-buffer.ts';
import { FieldReader } from './field-reader.ts';
import { Interner } from './interner.ts';
import { parseInputProtocol } from '../../../src/listing/input-protocol.ts';
import type { InputRecord, OutputRecord, StreamRecord, TaskRecord, UserRecord } from './entry-records.ts';
import type { InvalidReason, RecordKind } from '../../../src/listing/records.ts';
import { Scanner } from './scanner.ts';
import type { ElementReader } from './field-slot.ts';
import { hashTexts } from './text-hash.ts';

/** Receives the records of a listing, one at a time. */
export interface ListingSink {
  /** The record is valid during the call only. */
  addUser(record: UserRecord): void;
  addTask(record: TaskRecord): void;
  /** An entry was rejected. Entries within a task are reported before the task. */
  addInvalid(record: RecordKind, reason: InvalidReason): void;
  /** A field of a record counts as missing: one of `CHECKED_FIELDS`. Reported before the record, or its task. */
  addInvalidField(record: RecordKind, field: string): void;
}

type InvalidSink = Pick<ListingSink, 'addInvalid' | 'addInvalidField'>;

/** Reads one element of `user_list` or `task_list` and passes it to the sink. */
type RecordReader = (scanner: Scanner, sink: ListingSink, serviceCode: string) => void;

const unused = { kind: 'unused' } as const;
const label = { kind: 'label' } as const;
const labelOrInteger = { kind: 'label_or_integer' } as const;
const text = { kind: 'text' } as const;
const integer = { kind: 'integer' } as const;
const count = { kind: 'count' } as const;

type RecordFields = Pick<FieldReader<never>, 'read' | 'invalidFields'>;

/** Collects the entries of a list within the record being read. */
class NestedListReader<T> implements ElementReader, InvalidSink {
  records: T[] = [];
  #invalid: (readonly [RecordKind, InvalidReason])[] = [];
  #invalidFields: (readonly [RecordKind, string])[] = [];
  readonly #kind: RecordKind;
  readonly #fields: RecordFields;
  readonly #makeRecord: () => T;
  readonly #nested: NestedListReader<unknown> | undefined;

  constructor(
    kind: RecordKind,
    fields: RecordFields,
    makeRecord: () => T,
    nested?: NestedListReader<unknown>,
  ) {
    this.#kind = kind;
    this.#fields = fields;
    this.#makeRecord = makeRecord;
    this.#nested = nested;
  }

  reset(): void {
    this.records = [];
    if (this.#invalid.length > 0) this.#invalid = [];
    if (this.#invalidFields.length > 0) this.#invalidFields = [];
  }

  read(scanner: Scanner): void {
    if (!this.#fields.read(scanner)) return this.addInvalid(this.#kind, 'not_an_object');
    for (const field of this.#fields.invalidFields) this.addInvalidField(this.#kind, field);
    this.#nested?.reportInvalid(this);
    this.records.push(this.#makeRecord());
  }

  addInvalid(record: RecordKind, reason: InvalidReason): void {
    this.#invalid.push([record, reason]);
  }

  addInvalidField(record: RecordKind, field: string): void {
    this.#invalidFields.push([record, field]);
  }

  reportInvalid(sink: InvalidSink): void {
    for (const [record, reason] of this.#invalid) sink.addInvalid(record, reason);
    for (const [record, field] of this.#invalidFields) sink.addInvalidField(record, field);
  }
}

/**
 * The record readers and their caches (strings, orders of keys). All listing readers of a process can share one: it
 * holds no state of a body between two calls.
 */
export class RecordReaders {
  readonly scanner = new Scanner();
  readonly scratchBuffer = new ScratchBuffer();
  readonly #interner = new Interner();
  readonly user_list = createUserReader(this.#interner);
  readonly task_list = createTaskReader(this.#interner);
}

function isForeignCode(recordCode: string | undefined, polledCode: string): boolean {
  return recordCode !== undefined && recordCode !== polledCode;
}

function createUserReader(interner: Interner): RecordReader {
  const fields = new FieldReader(
    {
      vs_id: label,
      service_code: label,
      user_name: unused,
      client_version: labelOrInteger,
      device_type: labelOrInteger,
      id: unused,
    },
    interner,
  );
  const { values } = fields;
  // One object for all users: a million short-lived ones would dominate garbage collection.
  const record: { -readonly [K in keyof UserRecord]: UserRecord[K] } = {
    vsId: undefined,
    clientVersion: undefined,
    deviceType: undefined,
    isForeign: false,
  };
  return (scanner, sink, serviceCode) => {
    if (!fields.read(scanner)) return sink.addInvalid('user', 'not_an_object');
    for (const field of fields.invalidFields) sink.addInvalidField('user', field);
    record.vsId = values.vs_id.text;
    record.clientVersion = values.client_version.text;
    record.deviceType = values.device_type.text;
    record.isForeign = isForeignCode(values.service_code.text, serviceCode);
    return sink.addUser(record);
  };
}

function createTaskReader(interner: Interner): RecordReader {
  const inputs = createInputListReader(interner);
  const outputs = createOutputListReader(interner);
  const fields = new FieldReader(
    {
      id: text,
      serial: unused,
      sequence: unused,
      progress: { kind: 'number' },
      vs_id: label,
      service_code: label,
      inputs: { kind: 'list', elements: inputs },
      outputs: { kind: 'list', elements: outputs },
      http_live_url: unused,
      input_bytes: count,
      opaque: unused,
    },
    interner,
  );
  const { values } = fields;
  return (scanner, sink, serviceCode) => {
    if (!fields.read(scanner)) return sink.addInvalid('task', 'not_an_object');
    const { invalidFields } = fields;
    const id = values.id.text;
    if (id === undefined)
      return sink.addInvalid('task', invalidFields.includes('id') ? 'wrong_type' : 'missing_field');
    for (const field of invalidFields) sink.addInvalidField('task', field);
    inputs.reportInvalid(sink);
    outputs.reportInvalid(sink);
    return sink.addTask({
      id,
      vsId: values.vs_id.text,
      progress: values.progress.number,
      inputBytes: values.input_bytes.number,
      inputs: inputs.records,
      outputs: outputs.records,
      isForeign: isForeignCode(values.service_code.text, serviceCode),
    });
  };
}

function createInputListReader(interner: Interner): NestedListReader<InputRecord> {
  const fields = new FieldReader(
    {
      url: { kind: 'url' },
      service_code: unused,
      user_name: text,
      device_type: labelOrInteger,
      device_version: labelOrInteger,
      client_version: labelOrInteger,
      input_bytes: count,
    },
    interner,
  );
  const { values } = fields;
  return new NestedListReader('input', fields, () => ({
    identity: hashTexts([values.url.text, values.user_name.text]),
    protocol: parseInputProtocol(values.url.text),
    deviceType: values.device_type.text,
    clientVersion: values.device_version.text ?? values.client_version.text,
    inputBytes: values.input_bytes.number,
  }));
}

function createOutputListReader(interner: Interner): NestedListReader<OutputRecord> {
  const streams = createStreamListReader(interner);
  const fields = new FieldReader(
    {
      file_name: text,
      tag: label,
      audio_codec_name: label,
      video_codec_name: label,
      format: label,
      width: count,
      height: count,
      relative_dir: text,
      http_output_bytes: count,
      http_connections_num: count,
      streams: { kind: 'list', elements: streams },
      live_url: unused,
    },
    interner,
  );
  const { values } = fields;
  const makeRecord = (): OutputRecord => ({
    format: values.format.text,
    relativeDir: values.relative_dir.text,
    fileName: values.file_name.text,
    tag: values.tag.text,
    audioCodecName: values.audio_codec_name.text,
    videoCodecName: values.video_codec_name.text,
    width: values.width.number,
    height: values.height.number,
    httpOutputBytes: values.http_output_bytes.number,
    httpConnectionsNum: values.http_connections_num.number,
    streams: streams.records,
  });
  return new NestedListReader('output', fields, makeRecord, streams);
}

function createStreamListReader(interner: Interner): NestedListReader<StreamRecord> {
  const fields = new FieldReader(
    {
      index: unused,
      codec_type: integer,
      codec_id: integer,
      copy: integer,
      width: unused,
      height: unused,
      bit_rate: count,
    },
    interner,
  );
  const { values } = fields;
  return new NestedListReader('stream', fields, () => ({
    codecType: values.codec_type.number,
    codecId: values.codec_id.number,
    copy: values.copy.number,
    bitRate: values.bit_rate.number,
  }));
}
