import { UNKNOWN } from '../../../src/listing/label-values.ts';
import type {
  ForeignCount,
  InvalidCount,
  InvalidFieldCount,
  OutputReading,
  PartReading,
  SurplusCount,
  TaskReading,
} from '../../../src/listing/listing-sink.ts';
import type { InvalidReason, RecordKind } from '../../../src/listing/records.ts';
import type { Accumulator, AccumulatorPool } from '../../../src/tally/accumulator-pool.ts';
import type { ListingGauge } from '../../../src/tally/family-keys.ts';
import type { LabelNode, LabelSums } from '../../../src/tally/label-sums.ts';
import type { ListingSums } from '../../../src/tally/listing-aggregator.ts';
import { LargestTasks } from '../../../src/tally/notable-tasks.ts';
import { OutputSums } from '../../../src/tally/output-sums.ts';
import { TaskIndex } from '../../../src/tally/task-index.ts';
import type {
  InputRecord,
  OutputRecord,
  StreamRecord,
  TaskRecord,
  UserRecord,
} from '../listing/entry-records.ts';
import type { ListingSink } from '../listing/record-readers.ts';
import { hashOutputIdentity } from './output-identity.ts';

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

const CONNECTION_THRESHOLDS = [1, 10, 100, 1000, 10_000];
const NO_INPUTS: readonly PartReading[] = [];

/** Adds up one listing, record by record. Call `finish` before a `Tally` commits it. */
export class RecordAggregator implements ListingSink, ListingSums {
  readonly tasks = new TaskIndex<TaskReading>();
  readonly surplus: readonly SurplusCount[] = [];
  readonly outputSums = new OutputSums();
  readonly mostWatched = new LargestTasks<TaskReading>();
  users = 0;
  /** Indexes of rows by their sums; the module numbers its rows in the same way. */
  readonly #rows = new Map<LabelNode, number>();
  readonly #invalidRecords = new Map<string, Mutable<InvalidCount>>();
  readonly #invalidFields = new Map<string, Mutable<InvalidFieldCount>>();
  readonly #foreignRecords = new Map<RecordKind, Mutable<ForeignCount>>();
  /** Tasks with at least as many connections, by threshold. */
  readonly #connectionCounts = CONNECTION_THRESHOLDS.map(() => 0);
  readonly #watchedFormats = new Set<string>();
  readonly #accumulators: AccumulatorPool;
  #accumulator: Accumulator | undefined;

  constructor(accumulators: AccumulatorPool) {
    this.#accumulators = accumulators;
  }

  /** Acquired with the first record: of many listings that are awaited, few are being read. */
  get accumulator(): Accumulator {
    this.#accumulator ??= this.#accumulators.acquire();
    return this.#accumulator;
  }

  get taskCount(): number {
    return this.tasks.size;
  }

  get gauges(): Readonly<Record<ListingGauge, LabelSums>> {
    return this.accumulator.gauges;
  }

  /** Entries that were rejected. */
  get invalidCounts(): readonly InvalidCount[] {
    return [...this.#invalidRecords.values()];
  }

  /** Fields that were invalid and count as missing. */
  get invalidFields(): readonly InvalidFieldCount[] {
    return [...this.#invalidFields.values()];
  }

  /** Records whose `service_code` is not the polled one. */
  get foreignRecords(): readonly ForeignCount[] {
    return [...this.#foreignRecords.values()];
  }

  /** Formats of which some output has connections. */
  get watchedFormats(): ReadonlySet<string> {
    return this.#watchedFormats;
  }

  /** The servers that have users or tasks. */
  get servers(): ReadonlySet<string> {
    const { serverOnlineUsers, tasks } = this.gauges;
    const servers = new Set([...serverOnlineUsers, ...tasks].flatMap(({ labels }) => labels));
    servers.delete(UNKNOWN);
    return servers;
  }

  addUser({ vsId, clientVersion, deviceType, isForeign }: UserRecord): void {
    this.users += 1;
    if (isForeign) this.#countForeign('user');
    this.gauges.onlineUsers.at(clientVersion).at(deviceType).add(1);
    this.gauges.serverOnlineUsers.at(vsId).add(1);
  }

  addTask(record: TaskRecord): void {
    const server = this.gauges.tasks.at(record.vsId);
    const vsId = server.label;
    if (this.tasks.get(record.id, vsId) !== undefined) {
      this.addInvalid('task', 'duplicate_id');
      return;
    }
    if (record.isForeign) this.#countForeign('task');
    const isMerging = record.inputs.length > 1;
    server.add(1);
    this.gauges.tasksWithProgress.at(vsId).add((record.progress ?? 0) > 0 ? 1 : 0);
    this.gauges.tasksMerging.at(vsId).add(isMerging ? 1 : 0);
    for (const input of record.inputs) this.#addInput(vsId, input);
    const outputs = record.outputs.map((output) => this.#addOutput(vsId, output));
    const connections = outputs.reduce((sum, output) => sum + output.connections, 0);
    this.#countConnections(connections);
    const reading: TaskReading = {
      id: record.id,
      vsId,
      progress: record.progress,
      inputCount: record.inputs.length,
      inputBytes: record.inputBytes,
      inputs: record.inputBytes === undefined ? toInputReadings(record.inputs) : NO_INPUTS,
      protocol: isMerging ? undefined : record.inputs[0]?.protocol,
      outputs: outputs.toSorted(comparePartReadings),
      connections,
    };
    this.tasks.add(reading);
    if (connections > 0) this.mostWatched.offer(reading, connections);
  }

  addInvalid(record: RecordKind, reason: InvalidReason): void {
    const key = `${record} ${reason}`;
    const found = this.#invalidRecords.get(key);
    if (found === undefined) this.#invalidRecords.set(key, { record, reason, count: 1 });
    else found.count += 1;
  }

  addInvalidField(record: RecordKind, field: string): void {
    const key = `${record} ${field}`;
    const found = this.#invalidFields.get(key);
    if (found === undefined) this.#invalidFields.set(key, { record, field, count: 1 });
    else found.count += 1;
  }

  /** Adds what is known only at the end of the listing: call it once, before the sums are read. */
  finish(): void {
    for (const [index, threshold] of CONNECTION_THRESHOLDS.entries()) {
      this.gauges.tasksByHttpConnections.at(String(threshold)).add(this.#connectionCounts[index] ?? 0);
    }
  }

  #countForeign(record: RecordKind): void {
    const found = this.#foreignRecords.get(record);
    if (found === undefined) this.#foreignRecords.set(record, { record, count: 1 });
    else found.count += 1;
  }

  #countConnections(connections: number): void {
    for (const [index, threshold] of CONNECTION_THRESHOLDS.entries()) {
      if (connections < threshold) return;
      this.#connectionCounts[index] = (this.#connectionCounts[index] ?? 0) + 1;
    }
  }

  #addInput(vsId: string, { protocol, deviceType, clientVersion }: InputRecord): void {
    this.gauges.inputs.at(vsId).at(protocol).add(1);
    this.gauges.inputClients.at(deviceType).at(clientVersion).add(1);
  }

  #addOutput(vsId: string, output: OutputRecord): OutputReading {
    const { videoCodecName, audioCodecName, tag, httpConnectionsNum } = output;
    const { gauges, increases } = this.accumulator;
    const connections = httpConnectionsNum ?? 0;
    const resolution = formatResolution(output);
    const outputs = gauges.outputs.at(vsId).at(output.format);
    const format = outputs.label;
    outputs.add(1);
    gauges.outputRenditions.at(videoCodecName).at(audioCodecName).at(resolution).add(1);
    gauges.renditionHttpConnections.at(videoCodecName).at(audioCodecName).at(resolution).add(connections);
    gauges.outputTags.at(tag).add(1);
    gauges.httpConnections.at(vsId).at(format).add(connections);
    gauges.outputsUnwatched
      .at(vsId)
      .at(format)
      .add(httpConnectionsNum === 0 ? 1 : 0);
    if (connections > 0) this.#watchedFormats.add(format);
    for (const stream of output.streams) this.#addStream(vsId, stream);
    return {
      identity: hashOutputIdentity(output),
      bytes: output.httpOutputBytes,
      connections,
      serverFormatRow: this.#findRow(increases.httpOutputBytes.at(vsId).at(format)),
      renditionRow: this.#findRow(
        increases.renditionHttpOutputBytes.at(videoCodecName).at(audioCodecName).at(resolution),
      ),
    };
  }

  #findRow(sum: LabelNode): number {
    const row = this.#rows.get(sum) ?? this.#rows.size;
    this.#rows.set(sum, row);
    this.outputSums.set(row, sum);
    return row;
  }

  #addStream(vsId: string, { codecType, codecId, copy, bitRate }: StreamRecord): void {
    const type = nameCodecType(codecType);
    const mode = nameStreamMode(copy);
    const { streams, streamCodecs, streamBitRate } = this.gauges;
    streams.at(vsId).at(type).at(mode).add(1);
    streamCodecs.at(type).at(codecId?.toString()).add(1);
    streamBitRate
      .at(type)
      .at(mode)
      .add(bitRate ?? 0);
  }
}

function formatResolution({ width, height }: OutputRecord): string {
  return width === undefined || height === undefined ? UNKNOWN : `${width}x${height}`;
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

function toInputReadings(inputs: readonly InputRecord[]): readonly PartReading[] {
  return inputs
    .map(({ identity, inputBytes }) => ({ identity, bytes: inputBytes }))
    .toSorted(comparePartReadings);
}

/** Orders readings by identity, equal identities by value, the largest first. */
function comparePartReadings(a: PartReading, b: PartReading): number {
  return a.identity - b.identity || (b.bytes ?? -1) - (a.bytes ?? -1);
}
