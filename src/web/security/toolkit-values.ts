/** Values of the exporter-toolkit's YAML format: all scalars are strings, and messages must not show secrets. */
import { z } from 'zod';
import { describeKind, formatValue } from '../../config/config-error.ts';
import { expected, parsedBy, type ExpectedOptions } from '../../config/validation.ts';

/** A part of a bcrypt hash or a PEM text, or a whole line of base64 that does not start like a path. */
const SECRET = /\$\d\d\$|-----BEGIN|^(?!\/)[A-Za-z0-9+/=]{40,}$/;
/** Stricter than {@link SECRET}, for strings that are not paths. */
const LONG_TOKEN = /[A-Za-z0-9+/=.]{40}/;

/** Whether a string looks like a password hash or a key rather than a path. */
export function isSecret(text: string): boolean {
  return SECRET.test(text);
}

/** Whether a string must not appear in a message. */
export function isRedacted(text: string): boolean {
  return isSecret(text) || LONG_TOKEN.test(text);
}

/** Formats a value for a message unless it looks like a secret. */
export function formatUnlessSecret(raw: unknown): string {
  if (typeof raw !== 'string') return describeKind(raw);
  return isRedacted(raw) ? 'a redacted value' : formatValue(raw);
}

/** `expected` with redaction. */
export function expectedValue(expectation: string, options: ExpectedOptions = {}) {
  return expected(expectation, { show: formatUnlessSecret, ...options });
}

export const expectedMapping = expected('a mapping', { show: describeKind });

/** Accepts an absent value too. As in Go's YAML library, an empty string, `~` and `null` are absent. */
export function optional<T extends z.ZodType>(schema: T) {
  return z.preprocess((raw) => (isAbsent(raw) ? undefined : raw), schema.optional()).optional();
}

function isAbsent(raw: unknown): boolean {
  return raw === null || raw === '' || raw === '~' || raw === 'null';
}

/** Accepts one of the words; outputs its meaning. */
export function word<T>(
  meanings: ReadonlyMap<string, T>,
  expectation = `one of ${[...meanings.keys()].join(', ')}`,
  options?: ExpectedOptions,
) {
  return parsedBy(
    (raw) => (typeof raw === 'string' ? meanings.get(raw) : undefined),
    expectedValue(expectation, options),
  );
}

/** A boolean of YAML 1.1, which Go's library reads. */
export const boolean = word(
  new Map([...spellings(['true', 'yes', 'on', 'y'], true), ...spellings(['false', 'no', 'off', 'n'], false)]),
  'true or false',
);

/** In lower, upper and title case. */
function spellings(words: readonly string[], meaning: boolean): readonly (readonly [string, boolean])[] {
  return words
    .flatMap((text) => [text, text.toUpperCase(), text.charAt(0).toUpperCase() + text.slice(1)])
    .map((text) => [text, meaning] as const);
}

const DURATION_PART = /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;
const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ['ns', 1e-6],
  ['us', 1e-3],
  ['µs', 1e-3],
  ['μs', 1e-3],
  ['ms', 1],
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
]);

/** A non-negative duration in Go's notation, such as `1.5s`, `1h2m` or `0`; outputs milliseconds. */
export const goDurationMs = parsedBy((raw) => {
  if (typeof raw !== 'string') return undefined;
  const unsigned = raw.replace(/^\+/, '');
  if (unsigned === '0') return 0;
  const parts = [...unsigned.matchAll(DURATION_PART)];
  if (parts.length === 0 || parts.map(([part]) => part).join('') !== unsigned) return undefined;
  const ms = parts.reduce((sum, [, number, unit = '']) => sum + Number(number) * (UNIT_MS.get(unit) ?? 0), 0);
  return Number.isFinite(ms) ? ms : undefined;
}, expectedValue('a duration such as 500ms or 1s'));
