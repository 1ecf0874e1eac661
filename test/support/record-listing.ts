import {
  FAMILIES,
  FAMILY_NAMES,
  type FamilyName,
  FamilySums,
  type SumOf,
  type Sums,
} from '../../src/listing/families.ts';
import {
  sanitizeLabelValue,
  toKeyedLabels,
  UNKNOWN,
  type KeyedLabels,
} from '../../src/listing/label-values.ts';
import {
  OWN_INPUT,
  type InvalidReason,
  type Listing,
  type OutputReading,
  type PartReading,
  type RecordKind,
  type TaskReading,
} from '../../src/listing/listing.ts';
import { recordOf } from '../../src/runtime/record-of.ts';
import type { InputRecord, OutputRecord, StreamRecord, TaskRecord, UserRecord } from './listing-records.ts';
import { hashTexts } from './text-hash.ts';

const CONNECTION_THRESHOLDS = [1, 10, 100, 1000, 10_000];

/** The sums of one family, by label set. */
class RecordSums<F extends FamilyName> {
  readonly #family: F;
  readonly #rows = new Map<
    string,
    { readonly row: number; readonly labels: KeyedLabels; readonly sums: number[] }
  >();

  constructor(family: F) {
    this.#family = family;
  }

  /** Adds to the sums of a label set; returns its row. */
  add(texts: readonly (string | undefined)[], amounts: Partial<Record<SumOf<F>, number>>): number {
    const labels = toKeyedLabels(texts.map(sanitizeLabelValue));
    const numbers: readonly SumOf<F>[] = FAMILIES[this.#family].numbers;
    const found = this.#rows.get(labels.key) ?? { row: this.#rows.size, labels, sums: numbers.map(() => 0) };
    this.#rows.set(labels.key, found);
    for (const [index, number] of numbers.entries())
      found.sums[index] = (found.sums[index] ?? 0) + (amounts[number] ?? 0);
    return found.row;
  }

  toSums(): FamilySums<F> {
    const rows = [...this.#rows.values()];
    return new FamilySums(
      this.#family,
      rows.map(({ labels }) => labels),
      Float64Array.from(rows.flatMap(({ sums }) => sums)),
    );
  }
}

/** A listing of records, which are added up one by one: the oracle of the reader, and what tests of the tally commit. */
export class RecordListing {
  users = 0;
  taskCount = 0;
  readonly #tasks = new Map<string, TaskReading>();
  readonly #sums = recordOf(FAMILY_NAMES, (family) => new RecordSums(family)) as unknown as {
    readonly [F in FamilyName]: RecordSums<F>;
  };
  readonly #invalidRecords = new Map<string, [RecordKind, InvalidReason, number]>();
  readonly #invalidFields = new Map<string, [RecordKind, string, number]>();
  readonly #foreignRecords = new Map<RecordKind, number>();

  constructor() {
    for (const threshold of CONNECTION_THRESHOLDS) this.#sums.audience.add([String(threshold)], {});
  }

  /** Call it once: the sums of every call are their own. */
  get listing(): Listing {
    return {
      users: this.users,
      taskCount: this.taskCount,
      tasks: this.#tasks,
      sums: recordOf(FAMILY_NAMES, (family) => this.#sums[family].toSums()) as unknown as Sums,
      invalidRecords: [...this.#invalidRecords.values()].map(([record, reason, count]) => ({
        record,
        reason,
        count,
      })),
      invalidFields: [...this.#invalidFields.values()].map(([record, field, count]) => ({
        record,
        field,
        count,
      })),
      foreignRecords: [...this.#foreignRecords].map(([record, count]) => ({ record, count })),
      surplus: [],
      firstRejected: [],
    };
  }

  addUser({ vsId, clientVersion, deviceType, isForeign }: UserRecord): void {
    this.users += 1;
    if (isForeign) this.#countForeign('user');
    this.#sums.users.add([clientVersion, deviceType], { onlineUsers: 1 });
    this.#sums.userServers.add([vsId], { serverOnlineUsers: 1 });
  }

  addTask(record: TaskRecord): void {
    const vsId = sanitizeLabelValue(record.vsId);
    if (sanitizeLabelValue(record.id) !== record.id) {
      this.addInvalid('task', 'invalid_id');
      return;
    }
    const first = this.#tasks.get(record.id);
    if (first !== undefined) {
      this.addInvalid('task', 'duplicate_id');
      this.#addDuplicate(first, record);
      return;
    }
    this.taskCount += 1;
    if (record.isForeign) this.#countForeign('task');
    const isMerging = record.inputs.length > 1;
    this.#sums.servers.add([vsId], {
      tasks: 1,
      tasksWithProgress: (record.progress ?? 0) > 0 ? 1 : 0,
      tasksMerging: isMerging ? 1 : 0,
    });
    for (const input of record.inputs) this.#addInput(vsId, input);
    for (const output of record.outputs) this.#addOutput(vsId, output);
    const reading = this.#read(record, vsId);
    for (const threshold of CONNECTION_THRESHOLDS)
      this.#sums.audience.add([String(threshold)], {
        tasksByHttpConnections: reading.connections >= threshold ? 1 : 0,
      });
    this.#tasks.set(record.id, reading);
  }

  addInvalid(record: RecordKind, reason: InvalidReason): void {
    const [, , count] = this.#invalidRecords.get(`${record} ${reason}`) ?? [record, reason, 0];
    this.#invalidRecords.set(`${record} ${reason}`, [record, reason, count + 1]);
  }

  addInvalidField(record: RecordKind, field: string): void {
    const [, , count] = this.#invalidFields.get(`${record} ${field}`) ?? [record, field, 0];
    this.#invalidFields.set(`${record} ${field}`, [record, field, count + 1]);
  }

  #countForeign(record: RecordKind): void {
    this.#foreignRecords.set(record, (this.#foreignRecords.get(record) ?? 0) + 1);
  }

  #addInput(vsId: string, { protocol, deviceType, clientVersion }: InputRecord): void {
    this.#sums.inputs.add([vsId, protocol], { inputs: 1 });
    this.#sums.inputClients.add([deviceType, clientVersion], { inputClients: 1 });
  }

  #addOutput(vsId: string, output: OutputRecord): void {
    const connections = output.httpConnectionsNum ?? 0;
    this.#sums.outputs.add([vsId, output.format], {
      outputs: 1,
      httpConnections: connections,
      outputsUnwatched: output.httpConnectionsNum === 0 ? 1 : 0,
    });
    this.#sums.renditions.add(listRenditionLabels(output), {
      outputRenditions: 1,
      renditionHttpConnections: connections,
    });
    this.#sums.tags.add([output.tag], { outputTags: 1 });
    for (const stream of output.streams) this.#addStream(vsId, stream);
  }

  #addStream(vsId: string, { codecType, codecId, copy, width = 0, height = 0, bitRate }: StreamRecord): void {
    const type = nameCodecType(codecType);
    const mode = nameStreamMode(copy);
    this.#sums.streams.add([vsId, type, mode], { streams: 1 });
    if (codecType === 0 && copy !== 1) this.#sums.servers.add([vsId], { transcodedPixels: width * height });
    this.#sums.codecs.add([type, codecId?.toString()], { streamCodecs: 1 });
    this.#sums.bitRates.add([type, mode], { streamBitRate: bitRate ?? 0 });
  }

  #read(record: TaskRecord, vsId: string): TaskReading {
    const outputs = record.outputs.map((output): OutputReading => ({
      identity: hashTexts([output.format, output.relativeDir, output.fileName]),
      bytes: output.httpOutputBytes,
      connections: output.httpConnectionsNum ?? 0,
      outputRow: this.#sums.outputs.add([vsId, output.format], {}),
      renditionRow: this.#sums.renditions.add(listRenditionLabels(output), {}),
    }));
    const inputs = record.inputs.map(({ identity, inputBytes }) => ({ identity, bytes: inputBytes }));
    const own = [{ identity: OWN_INPUT, bytes: record.inputBytes }];
    return {
      id: record.id,
      vsId,
      name: record.name,
      progress: record.progress,
      inputCount: inputs.length,
      inputs: record.inputBytes === undefined ? inputs.toSorted(compareParts) : own,
      protocol: inputs.length > 1 ? undefined : record.inputs[0]?.protocol,
      outputs: outputs.toSorted(compareParts),
      connections: outputs.reduce((sum, { connections }) => sum + connections, 0),
    };
  }

  /** The first entry stands, but each account takes the larger value. */
  #addDuplicate(first: TaskReading, record: TaskRecord): void {
    const other = this.#read(record, first.vsId);
    const hasOwn = ({ inputs }: TaskReading) => inputs.some(({ identity }) => identity === OWN_INPUT);
    const entries = [first, other].some(hasOwn) ? [first, other].filter(hasOwn) : [first, other];
    this.#tasks.set(first.id, {
      ...first,
      inputs: entries.map(({ inputs }) => inputs).reduce(merge),
      outputs: merge(first.outputs, other.outputs),
    });
  }
}

function larger(a: number | undefined, b: number | undefined): number | undefined {
  const values = [a, b].filter((value) => value !== undefined);
  return values.length === 0 ? undefined : Math.max(...values);
}

/** Matches equal identities largest with largest. */
function merge<Part extends PartReading>(parts: readonly Part[], others: readonly Part[]): readonly Part[] {
  const left = [...others];
  const merged = parts.map((part) => {
    const index = left.findIndex(({ identity }) => identity === part.identity);
    const [other] = index < 0 ? [] : left.splice(index, 1);
    return { ...part, bytes: larger(part.bytes, other?.bytes) };
  });
  return [...merged, ...left].toSorted(compareParts);
}

function listRenditionLabels({ videoCodecName, audioCodecName, width, height }: OutputRecord) {
  const size = width === undefined || height === undefined ? UNKNOWN : `${width}x${height}`;
  return [videoCodecName, audioCodecName, size];
}

/** "Stream", `codec_type`: 0 = video, 1 = audio. */
function nameCodecType(value: number | undefined): string {
  if (value === 0) return 'video';
  return value === 1 ? 'audio' : UNKNOWN;
}

/** "Stream", `copy`: 1 is copied; the sample has 0, and the text 2, for a stream that is not. */
function nameStreamMode(copy: number | undefined): string {
  if (copy === 1) return 'copy';
  return copy === 0 || copy === 2 ? 'transcode' : UNKNOWN;
}

/** Orders readings by identity, equal identities by value, the largest first. */
function compareParts(a: PartReading, b: PartReading): number {
  return a.identity - b.identity || (b.bytes ?? -1) - (a.bytes ?? -1);
}
