/** The value of a label whose field is missing or empty. */
export const UNKNOWN = 'unknown';
/** The value of a label that was given up when label sets were folded. */
export const OTHER = '__other__';

/** Values with the first ids of `LabelNames`, in this order. */
export const FIXED_LABELS = [UNKNOWN, OTHER, 'video', 'audio', 'copy', 'transcode'];

export const MISSING_ID = 0;
export const OTHER_ID = 1;
export const VIDEO_ID = 2;
const AUDIO_ID = 3;
export const COPY_ID = 4;
const TRANSCODE_ID = 5;

/** Returns the id for "Stream", `codec_type`: 0 = video, 1 = audio. */
export function toCodecType(value: number | undefined): number {
  if (value === 0) return VIDEO_ID;
  return value === 1 ? AUDIO_ID : MISSING_ID;
}

/** Returns the id for "Stream", `copy`: 1 is copied; the sample has 0, and the text 2, for a stream that is not. */
export function toMode(value: number | undefined): number {
  if (value === 1) return COPY_ID;
  return value === 0 || value === 2 ? TRANSCODE_ID : MISSING_ID;
}

const MAX_CHARACTERS = 128;
const IS_PLAIN = /^[\x20-\x7e]{1,128}$/;
/** Format characters, such as U+202E and U+200B, reorder text or are invisible. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}]/gu;

/**
 * Makes a label value from a text that an end user's terminal may have written: no control or format characters, no lone
 * surrogates, at most 128 characters, never empty.
 */
export function sanitizeLabelValue(text: string | undefined): string {
  if (text === undefined || text === '') return UNKNOWN;
  if (IS_PLAIN.test(text)) return text;
  const cleaned = text
    .slice(0, 4 * MAX_CHARACTERS)
    .toWellFormed()
    .replaceAll(CONTROL_CHARACTERS, '');
  const cut = Array.from(cleaned).slice(0, MAX_CHARACTERS).join('');
  return cut === '' ? UNKNOWN : cut;
}

/** A label set and its key. Label values hold no control characters, so two label sets never share a key. */
export interface KeyedLabels {
  readonly key: string;
  readonly labels: readonly string[];
}

const MAX_KNOWN_LABELS = 50_000;
const knownLabels = new Map<string, KeyedLabels>();

/** Returns one object for equal label sets: those of listings and of service codes are much alike. */
export function toKeyedLabels(labels: readonly string[]): KeyedLabels {
  const key = labels.join('\u0000');
  const known = knownLabels.get(key);
  if (known !== undefined) return known;
  // Those in use are soon known again.
  if (knownLabels.size === MAX_KNOWN_LABELS) knownLabels.clear();
  const keyed = { key, labels };
  knownLabels.set(key, keyed);
  return keyed;
}
