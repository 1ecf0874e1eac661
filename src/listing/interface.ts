import { z } from 'zod';

/**
 * The wire interface of the `task_list` operation (version `20140928`), field by field as its
 * specification ("Resources and their fields") describes it.
 *
 * It has two uses: its types are what the simulator emits, and its verdict on a record is the oracle that
 * the streaming reader is tested against. The exporter itself never builds a listing from it.
 *
 * What makes a record unusable: not an object, a field of the wrong type, or one of the fields missing
 * without which something would be counted wrong (`id`, `inputs`, `outputs`, `streams`,
 * `http_output_bytes`, `http_connections_num`). Every other field may be missing, and `null` means missing.
 */

/** A byte or connection count, a size: an integer from 0 to 2⁵³ − 1, which a double holds exactly. */
const count = z.int().nonnegative();

/** An integer of any sign, such as an enumeration or a serial number. */
const integer = z.int();

/** Numbers that the wire sample shows as a string in one place and as a number in another. */
const text = z.string();
const textOrInteger = z.union([z.string(), z.int()]);

/** One audio or video stream of an output ("Stream"). */
export const streamSchema = z.object({
  /** Stream index. */
  index: integer.nullish(),
  /** 0 = video, 1 = audio. */
  codec_type: integer.nullish(),
  /** Id of the stream's codec format. */
  codec_id: integer.nullish(),
  /** Whether copy mode is on: 1 = copy; 0 (as the sample has it) and 2 (as the text has it) = transcoded. */
  copy: integer.nullish(),
  /** Picture width in pixels; 0 for audio. */
  width: count.nullish(),
  /** Picture height in pixels; 0 for audio. */
  height: count.nullish(),
  /** Bit rate, unit not documented; 0 for a copied video stream. */
  bit_rate: count.nullish(),
});

const outputFields = {
  /** Output file name. */
  file_name: text.nullish(),
  /** Output path, relative. */
  relative_dir: text.nullish(),
  /** Label of the output-format configuration. */
  tag: text.nullish(),
  /** Audio encoder name. */
  audio_codec_name: text.nullish(),
  /** Video encoder name. */
  video_codec_name: text.nullish(),
  /** Container format; seen are `flv`, `rtmp`, `m3u8`. */
  format: text.nullish(),
  /** Picture width in pixels. */
  width: count.nullish(),
  /** Picture height in pixels. */
  height: count.nullish(),
  /** Bytes delivered by HTTP live output, updated in real time; 0 for HLS. */
  http_output_bytes: count,
  /** Concurrent HTTP live connections; 0 for HLS. */
  http_connections_num: count,
  /** Play address, for formats that support live playback. Who has it can watch: it never leaves the reader. */
  live_url: text.nullish(),
};

/** One output of a task ("Output"). */
export const outputSchema = z.object({
  ...outputFields,
  /** Audio and video streams of this output. */
  streams: z.array(streamSchema),
});

/** One input of a task ("Input"). */
export const inputSchema = z.object({
  /** Source URL; the empty string for the service's own TCP upload protocol. */
  url: text.nullish(),
  /** Service code of the user, output or input. */
  service_code: text.nullish(),
  /** User name; not described by the specification. */
  user_name: text.nullish(),
  /** Client type; a number in the sample. */
  device_type: textOrInteger.nullish(),
  /** Client SDK version, under the name that occurs in the sample. */
  device_version: textOrInteger.nullish(),
  /** Client SDK version, under the name that the field descriptions use. */
  client_version: textOrInteger.nullish(),
  /** Total input traffic in bytes; described here, but at task level in the sample. */
  input_bytes: count.nullish(),
});

const taskFields = {
  /** Task id: what the byte accounting goes by. */
  id: text.min(1),
  /** Internal identifier. */
  serial: integer.nullish(),
  /** Ordinal on its server. */
  sequence: integer.nullish(),
  /** Progress; always 0 for live tasks. */
  progress: count.nullish(),
  /** Id of the server the task runs on. */
  vs_id: text.nullish(),
  /** Service code the task belongs to. */
  service_code: text.nullish(),
  /** Prefix of the play address; deprecated. Never leaves the reader. */
  http_live_url: text.nullish(),
  /** Bytes received as input, updated in real time. */
  input_bytes: count.nullish(),
  /** The application's pass-through string, as stored. Never leaves the reader. */
  opaque: text.nullish(),
};

/** One task ("Task"). */
export const taskSchema = z.object({
  ...taskFields,
  /** Inputs; normally exactly one, several in a task that merges screens. */
  inputs: z.array(inputSchema),
  /** Outputs. */
  outputs: z.array(outputSchema),
});

/** One online user ("User"). */
export const userSchema = z.object({
  /** Id of the server the user is on. */
  vs_id: text.nullish(),
  /** Service code the user belongs to. */
  service_code: text.nullish(),
  /** User name; not described by the specification. */
  user_name: text.nullish(),
  /** SDK version of the user's terminal. */
  client_version: textOrInteger.nullish(),
  /** Device type of the terminal. */
  device_type: textOrInteger.nullish(),
  /** User data id; changes on every call. */
  id: text.nullish(),
});

/** The whole answer of `task_list` ("Response object"). */
export const listingSchema = z.object({
  /** 0 = the call succeeded; anything else is an error. Some deployments answer with a string of digits. */
  ret: z.union([integer, z.string().regex(/^-?[0-9]+$/)]),
  /** Online users; empty when there are none. */
  user_list: z.array(userSchema),
  /** Tasks; empty when there are none. */
  task_list: z.array(taskSchema),
});

export type User = z.infer<typeof userSchema>;
export type Task = z.infer<typeof taskSchema>;
export type Input = z.infer<typeof inputSchema>;
export type Output = z.infer<typeof outputSchema>;
export type Stream = z.infer<typeof streamSchema>;
