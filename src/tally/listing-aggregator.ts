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
import type { LabelSums } from './label-sums.ts';
import { labelValue, UNKNOWN } from './label-values.ts';
import { outputIdentity } from './output-identity.ts';
import type { Worksheet, Worksheets } from './worksheet.ts';

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
  readonly identity: number;
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
  /** Sorted by their identities. */
  readonly outputs: readonly OutputReading[];
}

/** How many entries of one kind were left out, for one reason. */
export interface InvalidCount {
  readonly record: RecordKind;
  readonly reason: InvalidReason;
  count: number;
}

/** Adds up one listing, record by record. Nothing of it shows until a `Tally` commits it. */
export class ListingTally implements ListingSink {
  readonly tasks = new Map<string, TaskReading>();
  users = 0;
  readonly #invalid = new Map<string, InvalidCount>();

  readonly #worksheets: Worksheets;
  #sheet: Worksheet | undefined;

  constructor(worksheets: Worksheets) {
    this.#worksheets = worksheets;
  }

  /** Where it adds up. Taken with the first record: of many listings that are waited for, few are being read. */
  get sheet(): Worksheet {
    this.#sheet ??= this.#worksheets.take();
    return this.#sheet;
  }

  get gauges(): Readonly<Record<ListingGauge, LabelSums>> {
    return this.sheet.gauges;
  }

  /** The entries that were left out. */
  get invalidCounts(): readonly InvalidCount[] {
    return [...this.#invalid.values()];
  }

  /** The servers that have users or tasks. */
  get servers(): ReadonlySet<string> {
    const { serverOnlineUsers, tasks } = this.gauges;
    const servers = new Set([...serverOnlineUsers, ...tasks].flatMap(({ labels }) => labels));
    servers.delete(UNKNOWN);
    return servers;
  }

  user({ vsId, clientVersion, deviceType }: UserRecord): void {
    this.users += 1;
    this.gauges.onlineUsers.at(clientVersion).at(deviceType).add(1);
    this.gauges.serverOnlineUsers.at(vsId).add(1);
  }

  task(record: TaskRecord): void {
    if (this.tasks.has(record.id)) {
      this.invalid('task', 'duplicate_id');
      return;
    }
    const isMerging = record.inputs.length + record.invalidInputs > 1;
    const server = this.gauges.tasks.at(record.vsId);
    const vsId = server.label;
    server.add(1);
    this.gauges.tasksWithProgress.at(vsId).add((record.progress ?? 0) > 0 ? 1 : 0);
    this.gauges.tasksMerging.at(vsId).add(isMerging ? 1 : 0);
    for (const input of record.inputs) this.#input(vsId, input);
    for (const output of record.outputs) this.#output(vsId, output);
    this.tasks.set(record.id, {
      vsId,
      progress: record.progress,
      isMerging,
      input: inputReading(record),
      outputs: outputReadings(record.outputs),
    });
  }

  invalid(record: RecordKind, reason: InvalidReason): void {
    const key = `${record} ${reason}`;
    const counted = this.#invalid.get(key);
    if (counted === undefined) this.#invalid.set(key, { record, reason, count: 1 });
    else counted.count += 1;
  }

  #input(vsId: string, { protocol, deviceType, clientVersion }: InputRecord): void {
    this.gauges.inputs.at(vsId).at(protocol).add(1);
    this.gauges.inputClients.at(deviceType).at(clientVersion).add(1);
  }

  #output(vsId: string, output: OutputRecord): void {
    const { videoCodecName, audioCodecName, tag, httpConnectionsNum } = output;
    const outputs = this.gauges.outputs.at(vsId).at(output.format);
    const format = outputs.label;
    outputs.add(1);
    this.gauges.outputRenditions.at(videoCodecName).at(audioCodecName).at(resolution(output)).add(1);
    this.gauges.outputTags.at(tag).add(1);
    this.gauges.httpConnections.at(vsId).at(format).add(httpConnectionsNum);
    if (format !== UNMETERED_FORMAT) {
      const isUnwatched = httpConnectionsNum === 0;
      this.gauges.outputsUnwatched
        .at(vsId)
        .at(format)
        .add(isUnwatched ? 1 : 0);
    }
    for (const stream of output.streams) this.#stream(stream);
  }

  #stream({ codecType, copy, bitRate }: StreamRecord): void {
    const type = codecTypeName(codecType);
    const mode = streamMode(copy);
    this.gauges.streams.at(type).at(mode).add(1);
    this.gauges.streamBitRate
      .at(type)
      .at(mode)
      .add(bitRate ?? 0);
  }
}

function resolution({ width, height }: OutputRecord): string {
  return width === undefined || height === undefined ? UNKNOWN : `${width}x${height}`;
}

/** "Stream", `codec_type`: 0 = video, 1 = audio. */
function codecTypeName(value: number | undefined): string {
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

/** Alike ones are one. Sorted, so that the ledger needs no table to find them again. */
function outputReadings(outputs: readonly OutputRecord[]): OutputReading[] {
  const readings: OutputReading[] = [];
  for (const reading of outputs.map(outputReading).toSorted((a, b) => a.identity - b.identity)) {
    const last = readings.at(-1);
    if (last?.identity === reading.identity) {
      last.bytes += reading.bytes;
      last.connections += reading.connections;
    } else {
      readings.push(reading);
    }
  }
  return readings;
}

function outputReading(output: OutputRecord): OutputReading {
  return {
    identity: outputIdentity(output),
    format: labelValue(output.format),
    bytes: output.httpOutputBytes,
    connections: output.httpConnectionsNum,
  };
}
