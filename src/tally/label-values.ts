/** What a missing or empty value is called. */
export const UNKNOWN = 'unknown';
/** What label sets are folded into; a listing cannot claim it for itself. */
export const OTHER = '__other__';

const MAX_CHARACTERS = 128;
const IS_PLAIN = /^[\x20-\x7e]{1,128}$/;
const CONTROL_CHARACTERS = /\p{Cc}/gu;

/**
 * Makes a label value of a text that an end user's terminal may have written: no control characters, no lone
 * surrogates, at most 128 characters, never empty.
 */
export function labelValue(text: string | undefined): string {
  if (text === undefined || text === '') return UNKNOWN;
  if (IS_PLAIN.test(text)) return text;
  const cleaned = text
    .slice(0, 4 * MAX_CHARACTERS)
    .toWellFormed()
    .replaceAll(CONTROL_CHARACTERS, '');
  const cut = Array.from(cleaned).slice(0, MAX_CHARACTERS).join('');
  return cut === '' ? UNKNOWN : cut;
}

/** So many values are remembered; what comes beyond is made harmless each time. */
const MAX_REMEMBERED = 4096;

/** Label values by their texts: most texts come over and over, and need no second look. */
export class LabelValues {
  readonly #values = new Map<string, string>();

  of(text: string | undefined): string {
    if (text === undefined) return UNKNOWN;
    return this.#values.get(text) ?? this.#remember(text);
  }

  #remember(text: string): string {
    const value = labelValue(text);
    if (this.#values.size < MAX_REMEMBERED) this.#values.set(text, value);
    return value;
  }
}
