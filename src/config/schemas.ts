import { z } from 'zod';
import { isTaskNameSource } from '../listing/task-name.ts';
import { describeKind, expectedFound, formatValue } from './config-error.ts';
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
  /** What JSON Schema can say of the values in a file, where the schema itself does not tell. */
  readonly json?: Readonly<Record<string, unknown>>;
}

export const schemaMeta = z.registry<SchemaMeta>();

/** A quantity with a unit: `parse` gives `undefined` for other texts, `range` says what is wrong with a number. */
function quantity(
  typeName: string,
  example: string,
  parse: (text: string) => number | undefined,
  range: (value: number) => string | undefined,
  json: NonNullable<SchemaMeta['json']>,
) {
  return z
    .unknown()
    .transform((raw, context): number => {
      const isText = typeof raw === 'string' || typeof raw === 'number';
      const value = isText ? parse(String(raw)) : undefined;
      const remedy = typeof raw === 'number' && value === undefined ? 'add a unit' : undefined;
      const expectation = value === undefined ? `a ${typeName} such as ${example}` : range(value);
      return value === undefined || expectation !== undefined
        ? reject(context, expectedFound(expectation ?? '', formatValue(raw), remedy))
        : value;
    })
    .register(schemaMeta, { typeName, json });
}

/** Node's timers hold 31 bits of milliseconds (24.8 days) and fire immediately beyond. */
const MAX_DURATION_MS = 24 * 86_400_000;

/** A duration of at least `minMs` in Prometheus syntax; gives milliseconds. */
export function duration(minMs: number) {
  const range = `a duration from ${formatDuration(minMs)} to ${formatDuration(MAX_DURATION_MS)}`;
  const check = (ms: number) => (ms < minMs || ms > MAX_DURATION_MS ? range : undefined);
  // Without a unit, only 0 is a duration.
  const json = { anyOf: [{ type: 'string', pattern: DURATION.source }, { const: 0 }] };
  return quantity('duration', '15s', parseDuration, check, json);
}

/** A size of at least one byte; gives bytes. */
export const size = quantity(
  'size',
  '256MiB',
  parseSize,
  (bytes) => (bytes === 0 ? 'a size of at least 1 byte' : undefined),
  { type: ['string', 'integer'], pattern: SIZE.source, minimum: 1 },
);

/** A bit rate above 0; gives bytes per second. */
export const bitRate = quantity(
  'bit rate',
  '40Gbit/s',
  parseBitRate,
  (rate) => (rate === 0 ? 'a bit rate above 0' : undefined),
  { type: 'string', pattern: BIT_RATE.source },
);

/** An integer within bounds, also as decimal digits. */
export function integerBetween(min: number, max: number) {
  return parsedBy(
    (raw) => {
      const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw;
      return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : undefined;
    },
    expected(`an integer from ${min} to ${max}`),
  ).register(schemaMeta, {
    typeName: 'number',
    json: { type: ['integer', 'string'], minimum: min, maximum: max, pattern: '^\\d+$' },
  });
}

/** A limit on a count. */
export const positiveInteger = integerBetween(1, 1_000_000);

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
]);

export const boolean = parsedBy((raw) => BOOLEANS.get(raw), expected('true or false')).register(schemaMeta, {
  typeName: 'true or false',
  isBoolean: true,
  json: { enum: [...BOOLEANS.keys()] },
});

/** One of a closed set of words, in any case. */
export function choice<const T extends string>(...words: readonly T[]) {
  const typeName = words.join(', ');
  return parsedBy(
    (raw) => words.find((word) => word === String(raw).toLowerCase()),
    expected(`one of ${typeName}`),
  ).register(schemaMeta, { typeName, json: { enum: words } });
}

/** A source of names of tasks. */
export const taskNameSource = parsedBy(
  (raw) => (typeof raw === 'string' && isTaskNameSource(raw) ? raw : undefined),
  expected('opaque, opaque.KEY, output.file_name, output.relative_dir or input.user_name'),
).register(schemaMeta, { typeName: 'source of names', json: { type: 'string' } });

const pathExpected = expected('the path of a file');

/** The path of a file, which may not exist. */
export const filePath = z
  .string(pathExpected)
  .min(1, pathExpected)
  .register(schemaMeta, { typeName: 'path' });

const MAX_SECRET_LENGTH = 4096;

/**
 * Describes what is wrong with a secret without showing it; `undefined` if nothing is. The service would reject each
 * request with such a secret as one with a wrong signature.
 */
export function describeSecretMistake(secret: string): string | undefined {
  const describe = (found: string, remedy: string): string =>
    expectedFound('a secret without blanks around it', found, remedy);
  if (secret.length > MAX_SECRET_LENGTH)
    return describe(`one of more than ${MAX_SECRET_LENGTH} characters`, 'check that this is the secret');
  if (/^\$\{[A-Za-z_]\w*\}$/.test(secret)) {
    const remedy = 'variables are not expanded: use XVS_SECRET or secret_file';
    return expectedFound('the secret itself', 'a reference to a variable', remedy);
  }
  if (secret.startsWith('\uFEFF'))
    return describe('one that starts with a byte order mark', 'save the file as UTF-8 without BOM');
  if (/[\uFFFD\0]/.test(secret)) return describe('one that is not UTF-8', 'save the file as UTF-8');
  if (/[\r\n]/.test(secret)) {
    const remedy =
      'keep one line with the secret alone; one line feed at the end of a secret file is ignored';
    return describe('one with a line feed', remedy);
  }
  return secret === secret.trim() ? undefined : describe('one with blanks around it', 'remove them');
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
