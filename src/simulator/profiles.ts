import type { WeightedChoices } from './hash.ts';

/* The data from which users and tasks are generated. */

const minuteMs = 60_000;

/** The range of times that a user slot keeps its user, or stays empty. */
export const userPeriodRangeMs = [3 * minuteMs, 20 * minuteMs] as const;

/** Ranges of the cycle length of a task slot. */
export const taskCycleRangesMs: WeightedChoices<readonly [number, number]> = [
  [[2 * minuteMs, 5 * minuteMs], 20],
  [[10 * minuteMs, 40 * minuteMs], 30],
  [[20 * minuteMs, 90 * minuteMs], 30],
  [[60 * minuteMs, 240 * minuteMs], 20],
];

export interface Server {
  readonly id: string;
  readonly host: string;
}

export const servers: WeightedChoices<Server> = [
  [{ id: 'aws-cn_north_1-5', host: 'vs-5.example.com' }, 35],
  [{ id: 'aws-cn_north_1-3', host: 'vs-3.example.com' }, 25],
  [{ id: 'aws-cn_north_1-8', host: 'vs-8.example.com' }, 20],
  [{ id: 'aws-cn_east_2-1', host: 'vs-21.example.com' }, 15],
  [{ id: 'aws-ap_southeast_1-2', host: 'vs-42.example.com' }, 5],
];

export const clientVersions: WeightedChoices<string> = [
  ['451', 40],
  ['450', 25],
  ['447', 15],
  ['460', 10],
  ['432', 6],
  ['398', 3],
  ['201', 1],
];

export const deviceTypes: WeightedChoices<string> = [
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
export const sourceResolutions: WeightedChoices<Resolution> = [
  [{ width: 576, height: 432 }, 30],
  [{ width: 1280, height: 720 }, 30],
  [{ width: 640, height: 360 }, 15],
  [{ width: 1920, height: 1080 }, 15],
  [{ width: 360, height: 640 }, 10],
];

/** How a stream is made. A copied one keeps the picture of its source. */
interface Encoding {
  readonly codecName: string;
  readonly codecId: number;
  readonly copy: 0 | 1;
  readonly bitRate: number;
}

interface VideoEncoding extends Encoding {
  /** Absent: the picture of the source. */
  readonly resolution?: Resolution;
}

export interface OutputProfile {
  readonly format: 'flv' | 'rtmp' | 'm3u8';
  readonly tag: string;
  /** Tells the file names of two outputs of one format apart. */
  readonly suffix: string;
  readonly audio: Encoding;
  readonly video: VideoEncoding;
}

const aac: Encoding = { codecName: 'aac', codecId: 86018, copy: 0, bitRate: 48_000 };
const voAac: Encoding = { codecName: 'libvo_aacenc', codecId: 86018, copy: 0, bitRate: 48_000 };
const copiedAac: Encoding = { codecName: 'aac', codecId: 86018, copy: 1, bitRate: 0 };
const mp3: Encoding = { codecName: 'libmp3lame', codecId: 86017, copy: 0, bitRate: 64_000 };

const copiedX264: VideoEncoding = { codecName: 'libx264', codecId: 28, copy: 1, bitRate: 0 };
const x264: VideoEncoding = { codecName: 'libx264', codecId: 28, copy: 0, bitRate: 1_200_000 };
const x264Small: VideoEncoding = { ...x264, bitRate: 500_000, resolution: { width: 480, height: 270 } };
const x265: VideoEncoding = { codecName: 'libx265', codecId: 174, copy: 0, bitRate: 800_000 };

const flvLive: OutputProfile = {
  format: 'flv',
  tag: 'tcp_output_live_only',
  suffix: '',
  audio: aac,
  video: copiedX264,
};
const rtmpPush: OutputProfile = {
  format: 'rtmp',
  tag: 'rtmp_push_low_delay',
  suffix: '',
  audio: voAac,
  video: copiedX264,
};
const hlsLive: OutputProfile = {
  format: 'm3u8',
  tag: 'hls_live',
  suffix: '',
  audio: voAac,
  video: copiedX264,
};
const flvSmall: OutputProfile = { ...flvLive, tag: 'flv_270p', suffix: '_270p', video: x264Small };
const flvCopy: OutputProfile = { ...flvLive, tag: 'flv_copy', audio: copiedAac };
const hlsSmall: OutputProfile = {
  ...hlsLive,
  tag: 'hls_270p',
  suffix: '_270p',
  audio: mp3,
  video: x264Small,
};

/** The outputs of a task with one input. */
export const outputLayouts: WeightedChoices<readonly OutputProfile[]> = [
  [[flvLive, rtmpPush, hlsLive], 30],
  [[flvLive], 20],
  [[flvCopy, hlsLive], 20],
  [[flvLive, flvSmall, hlsSmall], 15],
  [[rtmpPush], 10],
  [[{ ...hlsLive, tag: 'hls_hevc', video: x265 }], 5],
];

/** The outputs of a task that merges screens: what is composed cannot be copied. */
export const mergedOutputLayouts: WeightedChoices<readonly OutputProfile[]> = [
  [
    [
      { ...flvLive, tag: 'merge_flv', video: x264 },
      { ...hlsLive, tag: 'merge_hls', video: x264 },
    ],
    100,
  ],
];

/** Numbers of inputs. */
export const inputCounts: WeightedChoices<number> = [
  [1, 85],
  [2, 8],
  [3, 4],
  [4, 3],
];

/** The start of an input's URL; empty for the service's own TCP upload. */
export const inputUrlPrefixes: WeightedChoices<string> = [
  ['', 70],
  ['rtmp://', 15],
  ['http://', 8],
  ['rtsp://', 7],
];

/** The most HTTP connections that an output sees, by format. HLS is not metered. */
export const peakConnections: Readonly<Record<OutputProfile['format'], WeightedChoices<number>>> = {
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
