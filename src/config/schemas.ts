import { z } from 'zod';
import { parseTaskNameSource } from '../listing/task-name.ts';
import { describeKind, expectedFound } from './config-error.ts';
import { BIT_RATE, DURATION, SIZE, formatDuration, parseBitRate, parseDuration, parseSize } from './units.ts';
import { expected, parsedBy, reject } from './validation.ts';

/** Metadata of a schema, for the reference, `--help` and the command line. */
export interface SchemaMeta {
  /** Name of the type in the reference and in `--help`. */
  readonly typeName: string;
  /** As text, the entries of a list are separated by commas; its flag may be repeated. */
  readonly isList?: true;
  /** Its flag may stand alone and then means `true`. */
  readonly isBoolean?: true;
  /** The part of JSON Schema that checks values of a file, where zod cannot derive it. */
  readonly json?: Readonly<Record<string, unknown>>;
}

export const schemaMeta = z.registry<SchemaMeta>();

/** A number with a unit. */
function quantity(
  typeName: string,
  example: string,
  pattern: RegExp,
  parse: (text: string) => number | undefined,
  suggest: (text: string) => string | undefined = () => undefined,
) {
  const form = expected(`a ${typeName} such as ${example}`, {
    remedy: (raw) => {
      if (typeof raw !== 'string') return typeof raw === 'number' ? 'add a unit' : undefined;
      return /^[\d.]+$/.test(raw) ? 'add a unit' : suggest(raw);
    },
  });
  return z
    .string(form)
    .regex(pattern, form)
    .transform((text, context) => parse(text) ?? reject(context, form.error({ input: text })));
}

/** Node's timers hold 31 bits of milliseconds (24.8 days) and fire immediately beyond. */
const MAX_DURATION_MS = 24 * 86_400_000;

/** A duration of at least `minMs` in Prometheus syntax; gives milliseconds. */
export function duration(minMs: number) {
  const range = `a duration from ${formatDuration(minMs)} to ${formatDuration(MAX_DURATION_MS)}`;
  const show = (ms: unknown): string => formatDuration(Number(ms));
  return quantity('duration', '15s', DURATION, parseDuration)
    .refine((ms) => ms >= minMs && ms <= MAX_DURATION_MS, expected(range, { show }))
    .register(schemaMeta, { typeName: 'duration' });
}

const sizeExpected = expected('a size of at least 1 byte, such as 256MiB');

/** A size in bytes, or with a unit; gives bytes. */
export const size = z
  .union([z.int(sizeExpected).min(1, sizeExpected), z.string().regex(SIZE, sizeExpected)], sizeExpected)
  .transform((raw) => (typeof raw === 'number' ? raw : (parseSize(raw) ?? 0)))
  .refine((bytes) => bytes > 0, sizeExpected)
  .register(schemaMeta, { typeName: 'size' });

/** Suggests `24Mbit/s` for `3MB/s`, and `3Mbit/s` for `3Mbps`. */
function suggestBits(text: string): string | undefined {
  const [, count, prefix, unit] =
    /^(\d+(?:\.\d+)?) ?([kMGT]?)([Bb])(?:yte|it)?s?(?:\/s|ps)$/.exec(text) ?? [];
  return unit && `in bits: ${Number(count) * (unit === 'B' ? 8 : 1)}${prefix}bit/s`;
}

export const bitRate = quantity('bit rate', '40Gbit/s', BIT_RATE, parseBitRate, suggestBits)
  .refine((rate) => rate > 0, expected('a bit rate above 0'))
  .register(schemaMeta, { typeName: 'bit rate' });

/** An integer within bounds, also as decimal digits. */
export function integerBetween(min: number, max: number) {
  const range = expected(`an integer from ${min} to ${max}`);
  return z
    .union([z.int(range).min(min, range).max(max, range), z.string().regex(/^\d+$/, range)], range)
    .transform(Number)
    .refine((value) => value >= min && value <= max, range)
    .register(schemaMeta, { typeName: 'number' });
}

export const positiveInteger = integerBetween(1, 1_000_000);

export const boolean = z
  .union([z.boolean(), z.enum(['true', 'false'])], expected('true or false'))
  .transform((raw) => String(raw) === 'true')
  .register(schemaMeta, { typeName: 'true or false', isBoolean: true });

/** One of a closed set of words, in any case. */
export function choice<const T extends string>(...words: readonly T[]) {
  const typeName = words.join(', ');
  return parsedBy(
    (raw) => words.find((word) => typeof raw === 'string' && word === raw.toLowerCase()),
    expected(`one of ${typeName}`),
  ).register(schemaMeta, { typeName, json: { enum: words } });
}

export const taskNameSource = parsedBy(
  (raw) => (typeof raw === 'string' ? parseTaskNameSource(raw) : undefined),
  expected('opaque, opaque.KEY, output.file_name, output.relative_dir or input.user_name'),
).register(schemaMeta, { typeName: 'source of names', json: { type: 'string' } });

const pathExpected = expected('the path of a file');

/** The path of a file, which may not exist. */
export const filePath = z
  .string(pathExpected)
  .min(1, pathExpected)
  .register(schemaMeta, { typeName: 'path' });

const SECRET_FORM = 'a secret of at most 4096 characters on one line of UTF-8, without blanks around it';
const SECRET_MISTAKES = [
  [/^[^]{4097}/, 'a longer one', 'check that this is the secret'],
  [
    /^\$\{[A-Za-z_]\w*\}$/,
    'a reference to a variable',
    'variables are not expanded: use XVS_SECRET or secret_file',
  ],
  [/^\uFEFF/, 'one that starts with a byte order mark', 'save the file as UTF-8 without BOM'],
  [/[\uFFFD\0]/, 'one that is not UTF-8', 'save the file as UTF-8'],
  [
    /[\r\n]/,
    'one with a line feed',
    'keep one line with the secret alone, which may end with a line feed in a file',
  ],
  [/^\s|\s$/, 'one with blanks around it', 'remove them'],
] as const;

/** Describes what is wrong with a secret without showing it: the service would only see a wrong signature. */
export function describeSecretMistake(secret: string): string | undefined {
  const mistake = SECRET_MISTAKES.find(([pattern]) => pattern.test(secret));
  return mistake && expectedFound(SECRET_FORM, mistake[1], mistake[2]);
}

const secretExpected = expected('a secret (a string; quote one that looks like a number)', {
  show: describeKind,
});

/** A shared secret. No message shows it. */
export const secretText = z
  .string(secretExpected)
  .min(1, secretExpected)
  .superRefine((secret, context) => {
    const mistake = describeSecretMistake(secret);
    if (mistake !== undefined) reject(context, mistake);
  })
  .register(schemaMeta, { typeName: 'string' });

/** A list, also written as one string with commas. */
export function commaSeparated<Schema extends z.ZodType>(list: Schema, typeName: string) {
  const schema = z.preprocess(
    (raw) => (typeof raw === 'string' ? raw.split(',').map((entry) => entry.trim()) : raw),
    list,
  );
  schemaMeta.add(schema, { typeName, isList: true });
  return schema;
}

const PLACEHOLDERS = /\{(?:path|query|timestamp)\}/g;
const TEMPLATE = 'a template of {path}, {query} and {timestamp}';

/** The template of the signed string: it has `{path}`, `{query}` and, at least once, `{timestamp}`. */
export const signingTemplate = z
  .string(expected(TEMPLATE))
  .refine((template) => !/[{}]/.test(template.replace(PLACEHOLDERS, '')), expected(TEMPLATE))
  // A signature without a timestamp would be valid forever.
  .includes('{timestamp}', expected(`${TEMPLATE} that contains {timestamp}`))
  .register(schemaMeta, { typeName: 'template' });

/** A field name: a token of RFC 9110, section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerNameExpected = expected('the name of an HTTP header');

export const headerName = z
  .string(headerNameExpected)
  .regex(HEADER_NAME, headerNameExpected)
  .register(schemaMeta, { typeName: 'header name' });
