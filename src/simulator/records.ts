import { selectFreezes, measureFrozenMs, type Freeze } from './freeze.ts';
import { mixHash, pickWeighted } from './hash.ts';
import { findUserSeedAt, listTaskLifetimes, type Population, type TaskLifetime } from './population.ts';
import { CLIENT_VERSIONS, DEVICE_TYPES, INPUT_URL_PREFIXES, SERVERS, type Resolution } from './profiles.ts';
import {
  computeHttpOutputBytes,
  createTaskSpec,
  evaluateAt,
  integrateUntil,
  type OutputSpec,
  type TaskSpec,
} from './task-spec.ts';

/** A "User" of the interface with all fields of the published sample. */
export type SimulatedUser = ReturnType<typeof createUserRecord>;

/** Generates the users of a service code that are online at a time. */
export function* generateUsersAt(
  population: Population,
  serviceCode: string,
  timeMs: number,
): Generator<SimulatedUser, void, undefined> {
  for (let slot = 0; slot < population.slotCount; slot += 1) {
    const seed = findUserSeedAt(population, slot, timeMs);
    if (seed !== undefined) yield createUserRecord(serviceCode, seed);
  }
}

function createUserRecord(serviceCode: string, seed: number) {
  return {
    vs_id: pickWeighted(SERVERS, mixHash(seed, 2)).id,
    service_code: serviceCode,
    user_name: String(seed % 1_000_000).padStart(6, '0'),
    client_version: pickWeighted(CLIENT_VERSIONS, mixHash(seed, 3)),
    device_type: pickWeighted(DEVICE_TYPES, mixHash(seed, 4)),
  };
}

/** A "Task" of the interface with all fields of the published sample. */
export type SimulatedTask = ReturnType<typeof createTaskRecord>;

/** Generates the tasks of a service code that exist at a time. */
export function* generateTasksAt(
  population: Population,
  serviceCode: string,
  timeMs: number,
  freezes: readonly Freeze[],
): Generator<SimulatedTask, void, undefined> {
  for (let slot = 0; slot < population.slotCount; slot += 1) {
    const [lifetime] = listTaskLifetimes(population, slot, timeMs, timeMs + 1);
    if (lifetime === undefined) continue;
    const spec = createTaskSpec(population, lifetime);
    const ageMs = computeActiveMs(lifetime, selectFreezes(freezes, serviceCode, spec), timeMs);
    yield createTaskRecord(serviceCode, lifetime, spec, ageMs);
  }
}

/** Computes the age of a task at a time, up to its end, without the time in which it was frozen. */
export function computeActiveMs(lifetime: TaskLifetime, freezes: readonly Freeze[], timeMs: number): number {
  const untilMs = Math.min(Math.max(timeMs, lifetime.startsAtMs), lifetime.endsAtMs);
  return untilMs - lifetime.startsAtMs - measureFrozenMs(freezes, lifetime.startsAtMs, untilMs);
}

function createTaskRecord(serviceCode: string, lifetime: TaskLifetime, spec: TaskSpec, ageMs: number) {
  const { id, seed, server } = spec;
  const directory = `${encodeURIComponent(serviceCode)}/${formatDirectory(lifetime.startsAtMs)}`;
  return {
    id,
    serial: mixHash(seed, 20) % 100_000_000,
    sequence: mixHash(seed, 21) % 5_000,
    progress: spec.isFile ? computeProgress(lifetime, ageMs) : 0,
    vs_id: server.id,
    service_code: serviceCode,
    inputs: Array.from({ length: spec.inputCount }, (_, index) =>
      createInputRecord(serviceCode, mixHash(seed, 2000 + index), spec.isFile),
    ),
    outputs: spec.outputs.map((output) => createOutputRecord(serviceCode, directory, spec, output, ageMs)),
    http_live_url: `http://${server.host}:80/live/id/`,
    input_bytes: integrateUntil(spec.inputRate, ageMs),
    opaque: encodeURIComponent(JSON.stringify({ room: spec.name })),
  };
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

function createInputRecord(serviceCode: string, seed: number, isFile: boolean) {
  const source = isFile ? 'http://' : pickWeighted(INPUT_URL_PREFIXES, mixHash(seed, 1));
  const name = String(seed % 1_000_000).padStart(6, '0');
  return {
    url: source === '' ? '' : `${source}source.example.net/${isFile ? 'files' : 'live'}/${name}`,
    service_code: serviceCode,
    user_name: name,
    device_type: Number(pickWeighted(DEVICE_TYPES, mixHash(seed, 2))),
    device_version: pickWeighted(CLIENT_VERSIONS, mixHash(seed, 3)),
  };
}

function createOutputRecord(
  serviceCode: string,
  directory: string,
  spec: TaskSpec,
  output: OutputSpec,
  ageMs: number,
) {
  const { profile } = output;
  const fileName = formatFileName(spec, output);
  const picture = profile.video.resolution ?? spec.sourceResolution;
  return {
    file_name: fileName,
    tag: profile.tag,
    audio_codec_name: profile.audio.codecName,
    video_codec_name: profile.video.codecName,
    format: profile.format,
    ...picture,
    relative_dir: `${directory}/${profile.format}/`,
    http_output_bytes: computeHttpOutputBytes(output, ageMs),
    http_connections_num: evaluateAt(output.connectionCount, ageMs),
    streams: createStreamRecords(output, picture),
    live_url:
      profile.format === 'rtmp'
        ? `rtmp://${spec.server.host}:1935/live/${fileName}`
        : `http://${spec.server.host}:80/live/sid/${encodeURIComponent(serviceCode)}/${fileName}`,
  };
}

function formatFileName(spec: TaskSpec, { profile }: OutputSpec): string {
  const extension = profile.format === 'rtmp' ? '' : `.${profile.format}`;
  return `${spec.id}${profile.suffix}${extension}`;
}

function createStreamRecords({ profile: { audio, video } }: OutputSpec, picture: Resolution) {
  return [
    {
      index: 0,
      codec_type: 1,
      codec_id: audio.codecId,
      copy: audio.copy,
      width: 0,
      height: 0,
      bit_rate: audio.bitRate,
    },
    {
      index: 1,
      codec_type: 0,
      codec_id: video.codecId,
      copy: video.copy,
      ...picture,
      bit_rate: video.bitRate,
    },
  ];
}
