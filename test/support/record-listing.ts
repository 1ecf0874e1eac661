import { recordOf } from '../../src/families/record-of.ts';
import { LISTED_GROUPS, RECORD_GROUPS, type FamilyOf } from '../../src/listing/label-groups.ts';
import { OTHER, sanitizeLabelValue, UNKNOWN } from '../../src/listing/label-values.ts';
import {
  OWN_INPUT,
  type InvalidReason,
  type Listing,
  type ListingRows,
  type OutputReading,
  type PartReading,
  type TaskReading,
} from '../../src/listing/listing.ts';
import { addOrSet, TextRows } from '../../src/listing/rows.ts';
import type { RecordKind } from '../../src/listing/task-list.ts';
import type { InputRecord, OutputRecord, StreamRecord, TaskRecord, UserRecord } from './listing-records.ts';
import { hashTexts } from './text-hash.ts';

type Group = keyof ListingRows;
type RecordRows = { readonly [G in Group]: TextRows<G> };

/**
 * A listing of records, which are added up one by one: the oracle of the reader, and what tests of the tally
 * commit.
 */
export class RecordListing {
  users = 0;
  taskCount = 0;
  readonly #tasks = new Map<string, TaskReading>();
  readonly #rows = recordOf(
    [...RECORD_GROUPS, ...LISTED_GROUPS],
    (group) => new TextRows(group),
  ) as unknown as RecordRows;

  get listing(): Listing {
    return {
      users: this.users,
      taskCount: this.taskCount,
      tasks: this.#tasks,
      rows: this.#rows,
      firstRejected: [],
      // The oracle does not tell records that name the polled code from those that name none.
      ofPolledCode: 0,
    };
  }

  addUser({ vsId, clientVersion, deviceType, isForeign }: UserRecord): void {
    this.users += 1;
    if (isForeign) this.#countForeign('user');
    this.#add('users', [clientVersion, deviceType], { onlineUsers: 1 });
    this.#add('userServers', [vsId], { serverOnlineUsers: 1 });
    if (isServer(vsId)) this.#add('taskServers', [vsId], {});
  }

  addTask(record: TaskRecord): void {
    const vsId = sanitizeLabelValue(record.vsId);
    const rejection = this.findRejection(record.id);
    if (rejection !== undefined) {
      this.addInvalid('task', rejection);
      return;
    }
    this.taskCount += 1;
    if (record.isForeign) this.#countForeign('task');
    if (isServer(vsId)) this.#add('userServers', [vsId], {});
    this.#add('taskServers', [vsId], {
      tasks: 1,
      tasksWithProgress: (record.progress ?? 0) > 0 ? 1 : 0,
    });
    for (const input of record.inputs) this.#addInput(vsId, input);
    for (const output of record.outputs) this.#addOutput(vsId, output);
    const reading = this.#read(record, vsId);
    this.#tasks.set(record.id, reading);
  }

  /** Why a task is rejected, if it is. */
  findRejection(id: string): InvalidReason | undefined {
    if (sanitizeLabelValue(id) !== id) return 'invalid_id';
    return this.#tasks.has(id) ? 'duplicate_id' : undefined;
  }

  /** Adds to the numbers of a label set; returns its row. */
  #add<G extends Group>(
    group: G,
    texts: readonly (string | undefined)[],
    amounts: Partial<Record<FamilyOf<G>, number>>,
  ): number {
    const rows: TextRows<G> = this.#rows[group];
    const row = rows.find(...texts.map(sanitizeLabelValue));
    for (const [family, column] of Object.entries<number[]>(rows.columns))
      addOrSet(column, row, amounts[family as FamilyOf<G>] ?? 0);
    return row;
  }

  addInvalid(record: RecordKind, reason: InvalidReason): void {
    this.#rows.invalidRecords.count('invalidRecords', 1, record, reason);
  }

  addInvalidField(record: RecordKind, field: string): void {
    this.#rows.invalidFields.count('invalidFields', 1, record, field);
  }

  #countForeign(record: RecordKind): void {
    this.#rows.foreignRecords.count('foreignRecords', 1, record);
  }

  #addInput(vsId: string, { protocol, deviceType, clientVersion }: InputRecord): void {
    this.#add('inputs', [vsId, protocol], { inputs: 1 });
    this.#add('inputClients', [deviceType, clientVersion], { inputClients: 1 });
  }

  #addOutput(vsId: string, output: OutputRecord): void {
    const connections = output.httpConnectionsNum ?? 0;
    this.#add('outputs', [vsId, output.format], {
      outputs: 1,
      httpConnections: connections,
      outputsUnwatched: output.httpConnectionsNum === 0 ? 1 : 0,
    });
    this.#add('renditions', listRenditionLabels(output), {
      outputRenditions: 1,
      renditionHttpConnections: connections,
    });
    this.#add('tags', [output.tag], { outputTags: 1 });
    for (const stream of output.streams) this.#addStream(vsId, stream);
  }

  #addStream(vsId: string, { codecType, codecId, copy, bitRate }: StreamRecord): void {
    const type = nameCodecType(codecType);
    const mode = nameStreamMode(copy);
    this.#add('streams', [vsId, type, mode], { streams: 1 });
    this.#add('codecs', [type, codecId?.toString()], { streamCodecs: 1 });
    this.#add('bitRates', [type, mode], { streamBitRate: bitRate ?? 0 });
  }

  #read(record: TaskRecord, vsId: string): TaskReading {
    const outputs = record.outputs.map((output): OutputReading => ({
      identity: hashTexts([output.format, output.relativeDir, output.fileName]),
      bytes: output.httpOutputBytes,
      connections: output.httpConnectionsNum ?? 0,
      outputRow: this.#add('outputs', [vsId, output.format], {}),
      renditionRow: this.#add('renditions', listRenditionLabels(output), {}),
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
}

/** Servers with users or tasks have both families. */
function isServer(vsId: string | undefined): boolean {
  return ![UNKNOWN, OTHER].includes(sanitizeLabelValue(vsId));
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
