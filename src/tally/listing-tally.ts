import type { ListingSink } from '../listing/record-readers.ts';
import type {
  InputRecord,
  InvalidReason,
  OutputRecord,
  RecordKind,
  StreamRecord,
  TaskRecord,
  UserRecord,
} from '../listing/records.ts';
import { LabelSums } from './label-sums.ts';
import { LabelValues, UNKNOWN } from './label-values.ts';
import { recordOf } from '../record-of.ts';

/** The gauge families that are sums over the records of one listing. */
export const LISTING_GAUGES = [
  'onlineUsers',
  'serverOnlineUsers',
  'tasks',
  'tasksWithProgress',
  'tasksMerging',
  'tasksStalled',
  'inputs',
  'inputClients',
  'outputs',
  'outputRenditions',
  'outputTags',
  'httpConnections',
  'outputsUnwatched',
  'streams',
  'streamBitRate',
] as const;

export type ListingGauge = (typeof LISTING_GAUGES)[number];

/** The container format that the service does not meter ("Output", `http_output_bytes`). */
const UNMETERED_FORMAT = 'm3u8';

/** What a listing says of a task's input bytes, and where it says so. */
export interface InputReading {
  readonly source: 'task' | 'inputs';
  readonly bytes: number;
}

/** What a listing says of one output of a task. Outputs that are alike are one, with their sum. */
export interface OutputReading {
  readonly format: string;
  bytes: number;
  connections: number;
}

/** What a listing says of one task: what the ledger compares with the listing before. */
export interface TaskReading {
  readonly vsId: string;
  readonly progress: number | undefined;
  readonly isMerging: boolean;
  readonly input: InputReading | undefined;
  /** By what identifies an output within its task: format, file name and tag. */
  readonly outputs: ReadonlyMap<string, OutputReading>;
}

/** How many entries of one kind were left out, for one reason. */
export interface InvalidCount {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  count: number;
}

/** Adds up one listing, record by record. Nothing of it shows until a `Tally` commits it. */
export class ListingTally implements ListingSink {
  readonly gauges: Readonly<Record<ListingGauge, LabelSums>> = recordOf(
    LISTING_GAUGES,
    () => new LabelSums(),
  );
  readonly servers = new Set<string>();
  readonly tasks = new Map<string, TaskReading>();
  users = 0;
  readonly #labels = new LabelValues();
  readonly #invalid = new Map<string, InvalidCount>();

  /** The entries that were left out. */
  get invalidCounts(): readonly InvalidCount[] {
    return [...this.#invalid.values()];
  }

  user(record: UserRecord): void {
    const vsId = this.#server(record.vsId);
    this.users += 1;
    this.gauges.onlineUsers.add(
      [this.#labels.of(record.clientVersion), this.#labels.of(record.deviceType)],
      1,
    );
    this.gauges.serverOnlineUsers.add([vsId], 1);
  }

  task(record: TaskRecord): void {
    if (this.tasks.has(record.id)) {
      this.invalid('task', 'duplicate_id');
      return;
    }
    const vsId = this.#server(record.vsId);
    const isMerging = record.inputs.length + record.invalidInputs > 1;
    this.gauges.tasks.add([vsId], 1);
    this.gauges.tasksWithProgress.add([vsId], (record.progress ?? 0) > 0 ? 1 : 0);
    this.gauges.tasksMerging.add([vsId], isMerging ? 1 : 0);
    for (const input of record.inputs) this.#input(vsId, input);
    for (const output of record.outputs) this.#output(vsId, output);
    this.tasks.set(record.id, {
      vsId,
      progress: record.progress,
      isMerging,
      input: inputReading(record),
      outputs: outputReadings(record.outputs, this.#labels),
    });
  }

  invalid(record: RecordKind, reason: InvalidReason): void {
    const key = `${record} ${reason}`;
    const counted = this.#invalid.get(key);
    if (counted === undefined) this.#invalid.set(key, { record, reason, count: 1 });
    else counted.count += 1;
  }

  #server(id: string | undefined): string {
    const vsId = this.#labels.of(id);
    if (vsId !== UNKNOWN) this.servers.add(vsId);
    return vsId;
  }

  #input(vsId: string, input: InputRecord): void {
    this.gauges.inputs.add([vsId, input.protocol], 1);
    this.gauges.inputClients.add(
      [this.#labels.of(input.deviceType), this.#labels.of(input.clientVersion)],
      1,
    );
  }

  #output(vsId: string, output: OutputRecord): void {
    const format = this.#labels.of(output.format);
    const codecs = [this.#labels.of(output.videoCodecName), this.#labels.of(output.audioCodecName)];
    this.gauges.outputs.add([vsId, format], 1);
    this.gauges.outputRenditions.add([...codecs, resolution(output)], 1);
    this.gauges.outputTags.add([this.#labels.of(output.tag)], 1);
    this.gauges.httpConnections.add([vsId, format], output.httpConnectionsNum);
    if (format !== UNMETERED_FORMAT) {
      this.gauges.outputsUnwatched.add([vsId, format], output.httpConnectionsNum === 0 ? 1 : 0);
    }
    for (const stream of output.streams) this.#stream(stream);
  }

  #stream(stream: StreamRecord): void {
    const labels = [codecType(stream.codecType), streamMode(stream.copy)];
    this.gauges.streams.add(labels, 1);
    this.gauges.streamBitRate.add(labels, stream.bitRate ?? 0);
  }
}

function resolution({ width, height }: OutputRecord): string {
  return width === undefined || height === undefined ? UNKNOWN : `${width}x${height}`;
}

/** "Stream", `codec_type`: 0 = video, 1 = audio. */
function codecType(value: number | undefined): string {
  if (value === 0) return 'video';
  return value === 1 ? 'audio' : UNKNOWN;
}

/** "Stream", `copy`: 1 is copied; the sample writes 0 and the text 2 for a stream that is not. */
function streamMode(copy: number | undefined): string {
  if (copy === 1) return 'copy';
  return copy === 0 || copy === 2 ? 'transcode' : UNKNOWN;
}

/**
 * The task's own `input_bytes`; where it has none, the sum over its inputs, if that is whole. Never both.
 */
function inputReading(task: TaskRecord): InputReading | undefined {
  if (task.inputBytes !== undefined) return { source: 'task', bytes: task.inputBytes };
  if (task.inputs.length === 0 || task.invalidInputs > 0) return undefined;
  let bytes = 0;
  for (const input of task.inputs) {
    if (input.inputBytes === undefined) return undefined;
    bytes += input.inputBytes;
  }
  return { source: 'inputs', bytes };
}

function outputReadings(outputs: readonly OutputRecord[], labels: LabelValues): Map<string, OutputReading> {
  const readings = new Map<string, OutputReading>();
  for (const output of outputs) {
    const key = [output.format, output.fileName, output.tag].join('\u0000');
    const alike = readings.get(key);
    const { httpOutputBytes: bytes, httpConnectionsNum: connections } = output;
    if (alike === undefined) {
      readings.set(key, { format: labels.of(output.format), bytes, connections });
    } else {
      alike.bytes += bytes;
      alike.connections += connections;
    }
  }
  return readings;
}
