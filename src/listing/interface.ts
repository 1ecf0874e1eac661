import { z } from 'zod';
import type { RecordKind } from './task-list.ts';

/*
 * The fields of `task_list` (version `20140928`) that the exporter reads ("Resources and their fields"): the
 * oracle of the streaming reader's tests. The exporter itself reads names for `once --explain` with them.
 */

/** A byte count, connection count or size: an integer from 0 to 2⁵³ − 1, which a double can hold. */
const count = z.int().nonnegative().nullish();

const integer = z.int().nullish();
const text = z.string().nullish();
const nonEmpty = z.string().transform((value) => (value === '' ? undefined : value));

/** A text whose empty string means that the field is missing. */
const label = nonEmpty.nullish();

/** The sample has some fields as a string in one place and as a number in another. */
const labelOrInteger = z.union([nonEmpty, z.int()]).nullish();

const unvalidatedList = z.array(z.unknown()).nullish();

/**
 * The fields by kind of record, beside the `id` of a task. An absent field and `null` are missing; one that
 * fails its schema is invalid and counts as missing. Entries of nested lists are read on their own.
 */
export const readableFields = {
  user: z.object({
    vs_id: label,
    service_code: label,
    client_version: labelOrInteger,
    device_type: labelOrInteger,
  }),
  task: z.object({
    /** Always 0 for live tasks. An integer in the specification; the service's demo page shows fractions. */
    progress: z.number().nonnegative().nullish(),
    vs_id: label,
    service_code: label,
    /** Normally exactly one, several in a task that merges screens. */
    inputs: unvalidatedList,
    outputs: unvalidatedList,
    input_bytes: count,
  }),
  input: z.object({
    /** The empty string for the service's own TCP upload protocol. */
    url: text,
    /** Not described by the specification. */
    user_name: label,
    /** A number in the sample. */
    device_type: labelOrInteger,
    /** Client SDK version: by its name in the sample, and in the field descriptions. */
    device_version: labelOrInteger,
    client_version: labelOrInteger,
    /** Described here, but at task level in the sample. */
    input_bytes: count,
  }),
  output: z.object({
    file_name: label,
    tag: label,
    audio_codec_name: label,
    video_codec_name: label,
    /** Container format, such as `flv`, `rtmp` or `m3u8`. */
    format: label,
    width: count,
    height: count,
    relative_dir: label,
    /** Bytes and connections of HTTP live output; 0 for HLS. */
    http_output_bytes: count,
    http_connections_num: count,
    streams: unvalidatedList,
  }),
  stream: z.object({
    /** 0 = video, 1 = audio. */
    codec_type: integer,
    codec_id: integer,
    /** 1 = copy; 0 (in the sample) and 2 (in the description) = transcoded. */
    copy: integer,
    /** In an undocumented unit; 0 for a copied video stream. */
    bit_rate: count,
  }),
} satisfies Record<RecordKind, z.ZodObject>;
