import { z } from 'zod';
import type { RecordKind } from './listing-sink.ts';

/*
 * The wire interface of the `task_list` operation (version `20140928`), field by field as in its specification,
 * "Resources and their fields".
 *
 * The simulator emits listings of these types, and `readableFields` is the oracle that the streaming reader is tested
 * against. The exporter itself never parses a listing with these schemas.
 */

/** A byte count, connection count or size: an integer from 0 to 2⁵³ − 1, which a double represents exactly. */
const count = z.int().nonnegative();

/** An integer of any sign, such as an enumeration or a serial number. */
const integer = z.int();

const text = z.string();

/** A text whose empty string means that the field is missing. */
const label = z.string().transform((value) => (value === '' ? undefined : value));

/** The sample has some fields as a string in one place and as a number in another. */
const labelOrInteger = z.union([label, z.int()]);

/** One audio or video stream of an output ("Stream"). */
const streamSchema = z.object({
  /** Stream index. */
  index: integer.nullish(),
  /** 0 = video, 1 = audio. */
  codec_type: integer.nullish(),
  /** Id of the codec format. */
  codec_id: integer.nullish(),
  /** Whether copy mode is on: 1 = copy; 0 (in the sample) and 2 (in the description) = transcoded. */
  copy: integer.nullish(),
  /** Picture width in pixels; 0 for audio. */
  width: count.nullish(),
  /** Picture height in pixels; 0 for audio. */
  height: count.nullish(),
  /** Bit rate in an undocumented unit; 0 for a copied video stream. */
  bit_rate: count.nullish(),
});

/** One output of a task ("Output"). */
const outputSchema = z.object({
  /** Output file name. */
  file_name: label.nullish(),
  /** Relative output path. */
  relative_dir: label.nullish(),
  /** Label of the output-format configuration. */
  tag: label.nullish(),
  /** Audio encoder name. */
  audio_codec_name: label.nullish(),
  /** Video encoder name. */
  video_codec_name: label.nullish(),
  /** Container format, such as `flv`, `rtmp` or `m3u8`. */
  format: label.nullish(),
  /** Picture width in pixels. */
  width: count.nullish(),
  /** Picture height in pixels. */
  height: count.nullish(),
  /** Bytes delivered by HTTP live output; 0 for HLS. */
  http_output_bytes: count,
  /** Concurrent HTTP live connections; 0 for HLS. */
  http_connections_num: count,
  /** Play address, for formats that support live playback. It gives access to the stream and never leaves the reader. */
  live_url: text.nullish(),
  /** Audio and video streams of this output. */
  streams: z.array(streamSchema),
});

/** One input of a task ("Input"). */
const inputSchema = z.object({
  /** Source URL; the empty string for the service's own TCP upload protocol. */
  url: text.nullish(),
  /** Service code of the user, output or input. */
  service_code: label.nullish(),
  /** User name; not described by the specification. */
  user_name: label.nullish(),
  /** Device type; a number in the sample. */
  device_type: labelOrInteger.nullish(),
  /** Client SDK version, by its name in the sample. */
  device_version: labelOrInteger.nullish(),
  /** Client SDK version, by its name in the field descriptions. */
  client_version: labelOrInteger.nullish(),
  /** Total input traffic in bytes; described here, but at task level in the sample. */
  input_bytes: count.nullish(),
});

/** One task ("Task"). */
export const taskSchema = z.object({
  /** Task id. */
  id: text.min(1),
  /** Internal identifier. */
  serial: integer.nullish(),
  /** Ordinal on its server. */
  sequence: integer.nullish(),
  /** Progress; always 0 for live tasks. An integer in the specification; the service's own demo page shows fractions. */
  progress: z.number().nonnegative().nullish(),
  /** Id of the server the task runs on. */
  vs_id: label.nullish(),
  /** Service code the task belongs to. */
  service_code: label.nullish(),
  /** Prefix of the play address; deprecated. Never leaves the reader. */
  http_live_url: text.nullish(),
  /** Bytes received as input. */
  input_bytes: count.nullish(),
  /** The application's pass-through string, as stored. Never leaves the reader. */
  opaque: text.nullish(),
  /** Inputs; normally exactly one, several in a task that merges screens. */
  inputs: z.array(inputSchema),
  /** Outputs. */
  outputs: z.array(outputSchema),
});

/** One online user ("User"). */
export const userSchema = z.object({
  /** Id of the server the user is on. */
  vs_id: label.nullish(),
  /** Service code the user belongs to. */
  service_code: label.nullish(),
  /** User name; not described by the specification. */
  user_name: label.nullish(),
  /** SDK version of the user's terminal. */
  client_version: labelOrInteger.nullish(),
  /** Device type of the terminal. */
  device_type: labelOrInteger.nullish(),
  /** User data id; changes on every call. */
  id: text.nullish(),
});

/** The response of `task_list` ("Response object"). */
export const listingSchema = z.object({
  /** 0 = the call succeeded; any other value is an error. Some deployments send a string of digits. */
  ret: z.union([integer, z.string().regex(/^-?[0-9]+$/)]),
  /** Online users; empty when there are none. */
  user_list: z.array(userSchema),
  /** Tasks; empty when there are none. */
  task_list: z.array(taskSchema),
});

const unvalidatedList = z.array(z.unknown());

/**
 * The fields that the exporter reads, by kind of record, in addition to the `id` of a task. An absent field and `null`
 * are missing; a field that fails its schema counts as missing and is reported as invalid. All other fields may hold any
 * JSON value. The entries of nested lists are read on their own.
 *
 * An entry is rejected only if it is not an object, or is a task without a non-empty `id`.
 */
export const readableFields = {
  user: userSchema.pick({ vs_id: true, service_code: true, client_version: true, device_type: true }),
  task: taskSchema
    .pick({ vs_id: true, service_code: true, progress: true, input_bytes: true })
    .extend({ inputs: unvalidatedList.nullish(), outputs: unvalidatedList.nullish() }),
  input: inputSchema.omit({ service_code: true }),
  output: outputSchema.omit({ live_url: true }).extend({
    http_output_bytes: count.nullish(),
    http_connections_num: count.nullish(),
    streams: unvalidatedList.nullish(),
  }),
  stream: streamSchema.omit({ index: true }),
} satisfies Record<RecordKind, z.ZodObject>;

export type User = z.infer<typeof userSchema>;
export type Task = z.infer<typeof taskSchema>;
export type Input = z.infer<typeof inputSchema>;
export type Output = z.infer<typeof outputSchema>;
export type Stream = z.infer<typeof streamSchema>;
