import { z } from 'zod';
import { isTaskNameSource } from '../listing/task-name.ts';
import { describeKind } from './config-error.ts';
import { describeSecretMistake } from './secret-text.ts';
import { formatDuration, parseBitRate, parseDuration, parseSize } from './units.ts';
import { expected, parsedBy, reject } from './validation.ts';

/** Metadata of a schema, for the reference, `--help` and the command line. */
export interface SchemaMeta {
  /** Name of the type in the reference and in `--help`. */
  readonly typeName: string;
  /** As text, the entries of a list are separated by commas; its flag may be repeated. */
  readonly isList?: true;
  /** Its flag may stand alone and then means `true`. */
  readonly isBoolean?: true;
}

export const schemaMeta = z.registry<SchemaMeta>();

/** Node's timers hold 31 bits of milliseconds (24.8 days) and fire immediately beyond. */
const MAX_DURATION_MS = 24 * 86_400_000;

/** A duration of at least `minMs` in Prometheus syntax; gives milliseconds. */
export function duration(minMs: number) {
  const syntax = expected('a duration such as 15s');
  const range = expected(`a duration from ${formatDuration(minMs)} to ${formatDuration(MAX_DURATION_MS)}`);
  return z
    .unknown()
    .transform((raw, context) => {
      const ms = raw === 0 ? 0 : typeof raw === 'string' ? parseDuration(raw) : undefined;
      if (ms === undefined) return reject(context, syntax.error({ input: raw }));
      return ms < minMs || ms > MAX_DURATION_MS ? reject(context, range.error({ input: raw })) : ms;
    })
    .register(schemaMeta, { typeName: 'duration' });
}

/** A size of at least one byte; gives bytes. */
export const size = z
  .unknown()
  .transform((raw, context) => {
    const bytes = typeof raw === 'string' || typeof raw === 'number' ? parseSize(String(raw)) : undefined;
    if (bytes === undefined) return reject(context, expected('a size such as 256MiB').error({ input: raw }));
    return bytes === 0 ? reject(context, expected('a size of at least 1 byte').error({ input: raw })) : bytes;
  })
  .register(schemaMeta, { typeName: 'size' });

/** A bit rate above 0; gives bytes per second. */
export const bitRate = z
  .unknown()
  .transform((raw, context) => {
    const bytesPerSecond = typeof raw === 'string' ? parseBitRate(raw) : undefined;
    const message = bytesPerSecond === 0 ? 'a bit rate above 0' : 'a bit rate such as 40Gbit/s';
    return bytesPerSecond === undefined || bytesPerSecond === 0
      ? reject(context, expected(message).error({ input: raw }))
      : bytesPerSecond;
  })
  .register(schemaMeta, { typeName: 'bit rate' });

/** An integer within bounds, also as decimal digits. */
export function integer(min: number, max: number) {
  return parsedBy(
    (raw) => {
      const value = typeof raw === 'string' && /^\d+$/.test(raw) ? Number(raw) : raw;
      return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
        ? value
        : undefined;
    },
    expected(`an integer from ${min} to ${max}`),
  ).register(schemaMeta, { typeName: 'number' });
}

/** A limit on a count. */
export const count = integer(1, 1_000_000);

const BOOLEANS: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ['true', true],
  [false, false],
  ['false', false],
]);

export const boolean = parsedBy((raw) => BOOLEANS.get(raw), expected('true or false')).register(schemaMeta, {
  typeName: 'true or false',
  isBoolean: true,
});

/** One of a closed set of words. */
export function choice<const T extends string>(...words: readonly T[]) {
  const typeName = words.join(', ');
  return z.enum(words, expected(`one of ${typeName}`)).register(schemaMeta, { typeName });
}

/** A source of names of tasks. */
export const taskNameSource = parsedBy(
  (raw) => (typeof raw === 'string' && isTaskNameSource(raw) ? raw : undefined),
  expected('opaque, opaque.KEY, output.file_name, output.relative_dir or input.user_name'),
).register(schemaMeta, { typeName: 'source of names' });

const pathExpected = expected('the path of a file');

/** The path of a file, which may not exist. */
export const filePath = z
  .string(pathExpected)
  .min(1, pathExpected)
  .register(schemaMeta, { typeName: 'path' });

const secretPathExpected = expected('the path of a file', { show: describeKind });

/** The path of a file with a secret. No message shows it, because it may be the secret itself. */
export const secretFilePath = z
  .string(secretPathExpected)
  .min(1, secretPathExpected)
  .register(schemaMeta, { typeName: 'path' });

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
