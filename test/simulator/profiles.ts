import type { WeightedChoices } from './hash.ts';

/* The data from which users and tasks are generated. */

const MINUTE_MS = 60_000;

/** The range of times that a user slot keeps its user, or stays empty. */
export const USER_PERIOD_RANGE_MS = [3 * MINUTE_MS, 20 * MINUTE_MS] as const;

/** Ranges of the cycle length of a task slot. */
export const TASK_CYCLE_RANGES_MS: WeightedChoices<readonly [number, number]> = [
  [[2 * MINUTE_MS, 5 * MINUTE_MS], 20],
  [[10 * MINUTE_MS, 40 * MINUTE_MS], 30],
  [[20 * MINUTE_MS, 90 * MINUTE_MS], 30],
  [[60 * MINUTE_MS, 240 * MINUTE_MS], 20],
];

export interface Server {
  readonly id: string;
  readonly host: string;
}

export const SERVERS: WeightedChoices<Server> = [
  [{ id: 'aws-cn_north_1-5', host: 'vs-5.example.com' }, 35],
  [{ id: 'aws-cn_north_1-3', host: 'vs-3.example.com' }, 25],
  [{ id: 'aws-cn_north_1-8', host: 'vs-8.example.com' }, 20],
  [{ id: 'aws-cn_east_2-1', host: 'vs-21.example.com' }, 15],
  [{ id: 'aws-ap_southeast_1-2', host: 'vs-42.example.com' }, 5],
];

export const CLIENT_VERSIONS: WeightedChoices<string> = [
  ['451', 40],
  ['450', 25],
  ['447', 15],
  ['460', 10],
  ['432', 6],
  ['398', 3],
  ['201', 1],
];

export const DEVICE_TYPES: WeightedChoices<string> = [
  ['10', 45],
  ['11', 30],
  ['20', 15],
  ['30', 7],
  ['99', 3],
];

export interface Resolution {
  readonly width: number;
  readonly height: number;
}

/** The picture sizes that sources send. */
export const SOURCE_RESOLUTIONS: WeightedChoices<Resolution> = [
  [{ width: 576, height: 432 }, 30],
  [{ width: 1280, height: 720 }, 30],
  [{ width: 640, height: 360 }, 15],
  [{ width: 1920, height: 1080 }, 15],
  [{ width: 360, height: 640 }, 10],
];

interface Encoding {
  readonly codecName: string;
  /** Fields of the stream. A copied one keeps the picture of its source and has no bit rate. */
  readonly stream: { readonly codec_id: number; readonly copy: 0 | 1; readonly bit_rate: number };
  /** Absent: the picture of the source. */
  readonly resolution?: Resolution;
}

export interface OutputProfile {
  readonly format: 'flv' | 'rtmp' | 'm3u8';
  readonly tag: string;
  /** Tells the file names of two outputs of one format apart. */
  readonly suffix: string;
  readonly audio: Encoding;
  readonly video: Encoding;
}

const AAC: Encoding = { codecName: 'aac', stream: { codec_id: 86018, copy: 0, bit_rate: 48_000 } };
const VO_AAC: Encoding = { ...AAC, codecName: 'libvo_aacenc' };
const COPIED_AAC: Encoding = { ...AAC, stream: { codec_id: 86018, copy: 1, bit_rate: 0 } };
const MP3: Encoding = { codecName: 'libmp3lame', stream: { codec_id: 86017, copy: 0, bit_rate: 64_000 } };

const X264: Encoding = { codecName: 'libx264', stream: { codec_id: 28, copy: 0, bit_rate: 1_200_000 } };
const COPIED_X264: Encoding = { ...X264, stream: { codec_id: 28, copy: 1, bit_rate: 0 } };
const X264_SMALL: Encoding = {
  ...X264,
  stream: { codec_id: 28, copy: 0, bit_rate: 500_000 },
  resolution: { width: 480, height: 270 },
};
const X265: Encoding = { codecName: 'libx265', stream: { codec_id: 174, copy: 0, bit_rate: 800_000 } };

const FLV_LIVE: OutputProfile = {
  format: 'flv',
  tag: 'tcp_output_live_only',
  suffix: '',
  audio: AAC,
  video: COPIED_X264,
};
const SMALL = { suffix: '_270p', video: X264_SMALL };
const FLV_SMALL: OutputProfile = { ...FLV_LIVE, ...SMALL, tag: 'flv_270p' };
const FLV_COPY: OutputProfile = { ...FLV_LIVE, tag: 'flv_copy', audio: COPIED_AAC };
const RTMP_PUSH: OutputProfile = { ...FLV_LIVE, format: 'rtmp', tag: 'rtmp_push_low_delay', audio: VO_AAC };
const HLS_LIVE: OutputProfile = { ...FLV_LIVE, format: 'm3u8', tag: 'hls_live', audio: VO_AAC };
const HLS_SMALL: OutputProfile = { ...HLS_LIVE, ...SMALL, tag: 'hls_270p', audio: MP3 };

export interface TaskProfile {
  readonly inputCount: number;
  readonly layout: readonly OutputProfile[];
  readonly bytesPerMs: number;
}

/** Streams are alike, so that one expectation suits all. */
export const STREAM: TaskProfile = {
  inputCount: 1,
  layout: [FLV_LIVE, RTMP_PUSH, HLS_LIVE],
  bytesPerMs: 500,
};

/** The outputs of a task with one input. */
export const OUTPUT_LAYOUTS: WeightedChoices<readonly OutputProfile[]> = [
  [[FLV_LIVE, RTMP_PUSH, HLS_LIVE], 30],
  [[FLV_LIVE], 20],
  [[FLV_COPY, HLS_LIVE], 20],
  [[FLV_LIVE, FLV_SMALL, HLS_SMALL], 15],
  [[RTMP_PUSH], 10],
  [[{ ...HLS_LIVE, tag: 'hls_hevc', video: X265 }], 5],
];

/** The outputs of a task that merges screens: what is composed cannot be copied. */
export const MERGED_OUTPUTS: readonly OutputProfile[] = [
  { ...FLV_LIVE, tag: 'merge_flv', video: X264 },
  { ...HLS_LIVE, tag: 'merge_hls', video: X264 },
];

/** Numbers of inputs. */
export const INPUT_COUNTS: WeightedChoices<number> = [
  [1, 85],
  [2, 8],
  [3, 4],
  [4, 3],
];

/** The start of an input's URL; empty for the service's own TCP upload. */
export const INPUT_URL_PREFIXES: WeightedChoices<string> = [
  ['', 70],
  ['rtmp://', 15],
  ['http://', 8],
  ['rtsp://', 7],
];

/** The most HTTP connections that an output sees, by format. HLS is not metered. */
export const PEAK_CONNECTIONS: Readonly<Record<OutputProfile['format'], WeightedChoices<number>>> = {
  flv: [
    [12, 40],
    [0, 25],
    [60, 25],
    [300, 10],
  ],
  rtmp: [
    [0, 80],
    [2, 20],
  ],
  m3u8: [[0, 100]],
};
