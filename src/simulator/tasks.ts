import type { Input, Output, Stream, Task } from '../listing/interface.ts';
import { levelAt, sumUntil } from './flow.ts';
import { freezesOf, frozenMs, type Freeze } from './freeze.ts';
import { mix, pick } from './hash.ts';
import { taskLifeAt, type Population, type TaskLife } from './lives.ts';
import { clientVersions, deviceTypes, inputSources, type Picture } from './repertoire.ts';
import { designTask, httpOutputBytes, type OutputDesign, type TaskDesign } from './task-design.ts';

/** A task as the simulator emits it: the interface's "Task" with all of the sample's fields present. */
export type SimulatedTask = ReturnType<typeof taskRecord>;

/** The tasks of a service code that are alive at a moment. */
export function* tasksAt(
  population: Population,
  serviceCode: string,
  timeMs: number,
  freezes: readonly Freeze[],
): Generator<SimulatedTask, void, undefined> {
  for (let slot = 0; slot < population.slots; slot += 1) {
    const life = taskLifeAt(population, slot, timeMs);
    if (life === undefined) continue;
    const design = designTask(population, life);
    const ageMs = activeMs(life, freezesOf(freezes, serviceCode, design.id), timeMs);
    yield taskRecord(serviceCode, life, design, ageMs);
  }
}

/** How long a task has been at work by a moment, before or after its end: its age without the time it stood frozen. */
export function activeMs(life: TaskLife, freezes: readonly Freeze[], timeMs: number): number {
  const untilMs = Math.min(Math.max(timeMs, life.bornAtMs), life.diesAtMs);
  return untilMs - life.bornAtMs - frozenMs(freezes, life.bornAtMs, untilMs);
}

function taskRecord(serviceCode: string, life: TaskLife, design: TaskDesign, ageMs: number) {
  const { id, seed, server } = design;
  const directory = `${encodeURIComponent(serviceCode)}/${directoryOf(life.bornAtMs)}`;
  return {
    id,
    serial: mix(seed, 20) % 100_000_000,
    sequence: mix(seed, 21) % 5_000,
    progress: design.isFile ? progressAt(life, ageMs) : 0,
    vs_id: server.id,
    service_code: serviceCode,
    inputs: Array.from({ length: design.inputCount }, (_, index) =>
      inputRecord(serviceCode, mix(seed, 2000 + index), design.isFile),
    ),
    outputs: design.outputs.map((output) => outputRecord(serviceCode, directory, design, output, ageMs)),
    http_live_url: `http://${server.host}:80/live/id/`,
    input_bytes: sumUntil(design.input, ageMs),
    opaque: encodeURIComponent(JSON.stringify({ room: String(mix(seed, 22) % 1_000) })),
  } satisfies Task;
}

/** Reaches 100 a little before the task's end, so that a listing can show a finished one. */
function progressAt(life: TaskLife, ageMs: number): number {
  return Math.min(100, Math.floor((100 * ageMs) / (0.95 * (life.diesAtMs - life.bornAtMs))));
}

/** Year, month and day, hour, minute of a task's birth, as in `20151106/02/26`. */
function directoryOf(bornAtMs: number): string {
  const iso = new Date(bornAtMs).toISOString();
  return `${iso.slice(0, 10).replaceAll('-', '')}/${iso.slice(11, 13)}/${iso.slice(14, 16)}`;
}

function inputRecord(serviceCode: string, seed: number, isFile: boolean) {
  const source = isFile ? 'http://' : pick(inputSources, mix(seed, 1));
  const name = String(seed % 1_000_000).padStart(6, '0');
  return {
    url: source === '' ? '' : `${source}source.example.net/${isFile ? 'files' : 'live'}/${name}`,
    service_code: serviceCode,
    user_name: name,
    device_type: Number(pick(deviceTypes, mix(seed, 2))),
    device_version: pick(clientVersions, mix(seed, 3)),
  } satisfies Input;
}

function outputRecord(
  serviceCode: string,
  directory: string,
  design: TaskDesign,
  output: OutputDesign,
  ageMs: number,
) {
  const { plan } = output;
  const fileName = fileNameOf(design, output);
  const picture = plan.video.picture ?? design.source;
  return {
    file_name: fileName,
    tag: plan.tag,
    audio_codec_name: plan.audio.codecName,
    video_codec_name: plan.video.codecName,
    format: plan.format,
    ...picture,
    relative_dir: `${directory}/${plan.format}/`,
    http_output_bytes: httpOutputBytes(output, ageMs),
    http_connections_num: levelAt(output.connections, ageMs),
    streams: streamRecords(output, picture),
    live_url:
      plan.format === 'rtmp'
        ? `rtmp://${design.server.host}:1935/live/${fileName}`
        : `http://${design.server.host}:80/live/sid/${encodeURIComponent(serviceCode)}/${fileName}`,
  } satisfies Output;
}

function fileNameOf(design: TaskDesign, { plan }: OutputDesign): string {
  const extension = plan.format === 'rtmp' ? '' : `.${plan.format}`;
  return `${design.id}${plan.suffix}${extension}`;
}

function streamRecords({ plan: { audio, video } }: OutputDesign, picture: Picture) {
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
  ] satisfies Stream[];
}
