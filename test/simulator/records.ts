import type { readableFields } from '../../src/listing/interface.ts';
import { measureFrozenMs, type Freeze } from './freeze.ts';
import { mixHash, pickWeighted, toIntegerIn } from './hash.ts';
import type { TaskLifetime } from './population.ts';
import * as profiles from './profiles.ts';
import { createStepFunction, evaluateAt, integrateUntil } from './step-function.ts';

/** The fields that the exporter reads, but those that the published sample lacks. */
type Fields<Kind extends keyof typeof readableFields, Lacking extends string = never> = Readonly<
  Record<Exclude<keyof (typeof readableFields)[Kind]['shape'], Lacking> | (string & {}), unknown>
>;

/** A "User" of the interface with all fields of the published sample. */
export type SimulatedUser = ReturnType<typeof createUser>;

/** Creates the user of a seed. */
export function createUser(serviceCode: string, seed: number) {
  return {
    vs_id: pickWeighted(profiles.SERVERS, mixHash(seed, 2)).id,
    service_code: serviceCode,
    user_name: formatUserName(seed),
    client_version: pickWeighted(profiles.CLIENT_VERSIONS, mixHash(seed, 3)),
    device_type: pickWeighted(profiles.DEVICE_TYPES, mixHash(seed, 4)),
  } satisfies Fields<'user'>;
}

/** A "Task" of the interface with all fields of the published sample. */
export type SimulatedTask = ReturnType<typeof createTask>;

/**
 * Creates the record of a task at a time. Its counters do not grow before the task starts and after it ends.
 */
export function createTask(
  serviceCode: string,
  lifetime: TaskLifetime,
  timeMs: number,
  freezes: readonly Freeze[],
) {
  const { seed, stream } = lifetime;
  const server = pickWeighted(profiles.SERVERS, mixHash(seed, 2));
  const id = `${server.id}-${lifetime.uniqueId}`;
  const name = stream ?? String(mixHash(seed, 22) % 1_000);
  const isFile = stream === undefined && mixHash(seed, 3) % 10 === 0;
  const { inputCount, layout, bytesPerMs } =
    stream === undefined ? pickTaskProfile(seed, isFile) : profiles.STREAM;
  const untilMs = Math.min(Math.max(timeMs, lifetime.startsAtMs), lifetime.endsAtMs);
  const frozenMs = measureFrozenMs(freezes, { serviceCode, taskId: id, name }, lifetime.startsAtMs, untilMs);
  const ageMs = untilMs - lifetime.startsAtMs - frozenMs;
  const shared = {
    serviceCode,
    id,
    host: server.host,
    directory: `${encodeURIComponent(serviceCode)}/${formatDirectory(lifetime.startsAtMs)}`,
    picture: pickWeighted(profiles.SOURCE_RESOLUTIONS, mixHash(seed, 7)),
    bytesPerMs,
    ageMs,
  };
  const inputRate = createStepFunction(mixHash(seed, 8), bytesPerMs, [0.85, 1.15], [5_000, 15_000]);
  return {
    id,
    serial: mixHash(seed, 20) % 100_000_000,
    sequence: mixHash(seed, 21) % 5_000,
    progress: isFile ? computeProgress(lifetime, ageMs) : 0,
    vs_id: server.id,
    service_code: serviceCode,
    inputs: Array.from({ length: inputCount }, (_, index) =>
      createInput(serviceCode, mixHash(seed, 2000 + index), isFile),
    ),
    outputs: layout.map((profile, index) => createOutput(shared, profile, mixHash(seed, 1000 + index))),
    http_live_url: `http://${server.host}:80/live/id/`,
    input_bytes: integrateUntil(inputRate, ageMs),
    opaque: encodeURIComponent(JSON.stringify({ room: name })),
  } satisfies Fields<'task'>;
}

function pickTaskProfile(seed: number, isFile: boolean): profiles.TaskProfile {
  const inputCount = isFile ? 1 : pickWeighted(profiles.INPUT_COUNTS, mixHash(seed, 4));
  const layout =
    inputCount > 1 ? profiles.MERGED_OUTPUTS : pickWeighted(profiles.OUTPUT_LAYOUTS, mixHash(seed, 5));
  return { inputCount, layout, bytesPerMs: toIntegerIn(mixHash(seed, 6), 125, 500) };
}

/** Reaches 100 shortly before the end of the task, so that a listing can contain a finished one. */
function computeProgress(lifetime: TaskLifetime, ageMs: number): number {
  return Math.min(100, Math.floor((100 * ageMs) / (0.95 * (lifetime.endsAtMs - lifetime.startsAtMs))));
}

/** Formats the start of a task as date, hour and minute: `20151106/02/26`. */
function formatDirectory(startsAtMs: number): string {
  const iso = new Date(startsAtMs).toISOString();
  return `${iso.slice(0, 10).replaceAll('-', '')}/${iso.slice(11, 13)}/${iso.slice(14, 16)}`;
}

function formatUserName(seed: number): string {
  return String(seed % 1_000_000).padStart(6, '0');
}

function createInput(serviceCode: string, seed: number, isFile: boolean) {
  const source = isFile ? 'http://' : pickWeighted(profiles.INPUT_URL_PREFIXES, mixHash(seed, 1));
  const name = formatUserName(seed);
  return {
    url: source === '' ? '' : `${source}source.example.net/${isFile ? 'files' : 'live'}/${name}`,
    service_code: serviceCode,
    user_name: name,
    device_type: Number(pickWeighted(profiles.DEVICE_TYPES, mixHash(seed, 2))),
    device_version: pickWeighted(profiles.CLIENT_VERSIONS, mixHash(seed, 3)),
  } satisfies Fields<'input', 'client_version' | 'input_bytes'>;
}

/** What the outputs of a task share. */
interface SharedByOutputs {
  readonly serviceCode: string;
  readonly id: string;
  readonly host: string;
  readonly directory: string;
  /** The picture of the source. */
  readonly picture: profiles.Resolution;
  /** The rate of one connection. */
  readonly bytesPerMs: number;
  readonly ageMs: number;
}

function createOutput(task: SharedByOutputs, profile: profiles.OutputProfile, seed: number) {
  const { format, audio, video } = profile;
  const fileName = `${task.id}${profile.suffix}${format === 'rtmp' ? '' : `.${format}`}`;
  const picture = video.resolution ?? task.picture;
  const peak = pickWeighted(profiles.PEAK_CONNECTIONS[format], mixHash(seed, 100));
  const connections = createStepFunction(seed, peak, [0.3, 1], [20_000, 90_000]);
  return {
    file_name: fileName,
    tag: profile.tag,
    audio_codec_name: audio.codecName,
    video_codec_name: video.codecName,
    format,
    ...picture,
    relative_dir: `${task.directory}/${format}/`,
    http_output_bytes: task.bytesPerMs * integrateUntil(connections, task.ageMs),
    http_connections_num: evaluateAt(connections, task.ageMs),
    streams: [
      { index: 0, codec_type: 1, ...audio.stream, width: 0, height: 0 } satisfies Fields<'stream'>,
      { index: 1, codec_type: 0, ...video.stream, ...picture } satisfies Fields<'stream'>,
    ],
    live_url:
      format === 'rtmp'
        ? `rtmp://${task.host}:1935/live/${fileName}`
        : `http://${task.host}:80/live/sid/${encodeURIComponent(task.serviceCode)}/${fileName}`,
  } satisfies Fields<'output'>;
}
