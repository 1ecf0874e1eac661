/** The value of a label whose field is missing or empty. */
export const UNKNOWN = 'unknown';
/** The value of a label that was folded. */
export const OTHER = '__other__';

/** Ids of `UNKNOWN` and `OTHER`, the first of all. */
export const MISSING_ID = 0;
export const OTHER_ID = 1;

const MAX_CHARACTERS = 128;
const IS_PLAIN = /^[\x20-\x7e]{1,128}$/;
/** Format characters, such as U+202E and U+200B, reorder text or are invisible. */
const CONTROL_CHARACTERS = /[\p{Cc}\p{Cf}]/gu;

/** Cleans a terminal's text: 1 to 128 characters, no control or format ones, no lone surrogates. */
export function sanitizeLabelValue(text: string | undefined): string {
  if (text === undefined || text === '') return UNKNOWN;
  if (IS_PLAIN.test(text)) return text;
  const cleaned = cleanText(text.slice(0, 4 * MAX_CHARACTERS));
  const cut = Array.from(cleaned).slice(0, MAX_CHARACTERS).join('');
  return cut === '' ? UNKNOWN : cut;
}

/** Removes control and format characters and lone surrogates. */
export function cleanText(text: string): string {
  return text.toWellFormed().replaceAll(CONTROL_CHARACTERS, '');
}

/**
 * The label values of a row, without `service_code`, in the order of its label group. The last ones can be
 * missing: then the row does not have these labels. In rows, equal label sets are one object.
 */
export type LabelSet = readonly string[];

/** Whether no value is missing or folded. */
export function isNamed(labels: LabelSet): boolean {
  return !labels.includes(UNKNOWN) && !labels.includes(OTHER);
}

/** By their values, joined by a character that they do not hold. */
const knownLabels = new Map<string, WeakRef<LabelSet>>();
const unusedLabels = new FinalizationRegistry<string>((key) => {
  if (knownLabels.get(key)?.deref() === undefined) knownLabels.delete(key);
});

/**
 * Returns one object for equal label sets: those of listings and of service codes are much alike. The caller
 * may change `labels` afterwards.
 */
export function internLabels(labels: LabelSet): LabelSet {
  const key = labels.length === 1 ? (labels[0] ?? '') : labels.join('\u0000');
  const known = knownLabels.get(key)?.deref();
  if (known !== undefined) return known;
  const interned = [...labels];
  knownLabels.set(key, new WeakRef(interned));
  unusedLabels.register(interned, key);
  return interned;
}
