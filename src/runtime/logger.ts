import { pino } from 'pino';
import { getErrorCode } from './errors.ts';

/** A log line has a constant message, its data in `snake_case` fields, and an error in `err`. */
export interface Logger extends Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  /** Creates a logger that adds fields to every line. */
  child(bindings: pino.Bindings): Logger;
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'json' | 'logfmt';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Receives complete lines with their line feed. */
  readonly destination: { write(line: string): void };
}

/**
 * Creates a logger that writes synchronously, and censors secrets by field name as a second line of defence.
 * `err` is the message of an expected failure, or the Error itself, with its stack, of a bug.
 */
export function createLogger({ level, format, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: serializeError },
      redact: { paths: buildSecretPaths(), censor: '<secret>' },
    },
    { write: (line: string) => destination.write(format === 'json' ? line : toLogfmt(line)) },
  );
}

/** Copies an allowlist of properties: others, such as the headers of a request, may contain a secret. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack } = pino.stdSerializers.err(error);
  return { type, message, code: getErrorCode(error), stack };
}

/** Builds the paths of secrets, down to the headers of a request in a field. */
function buildSecretPaths(): string[] {
  const names = ['secret', 'password', 'signature', 'authorization'];
  return ['', '*.', '*.*.'].flatMap((prefix) => names.map((name) => prefix + name));
}

/** Converts a JSON line of pino into a line of logfmt: time, level and message first, then the fields. */
export function toLogfmt(line: string): string {
  const { time, level, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const pairs = [...flatten({ time, level, msg }), ...flatten(fields)];
  return `${pairs.map(([key, value]) => `${key}=${value}`).join(' ')}\n`;
}

/** Flattens fields into escaped pairs. Nested objects get dotted keys, as in `err.message`. */
function flatten(fields: Record<string, unknown>, prefix = ''): readonly (readonly [string, string])[] {
  return Object.entries(fields).flatMap(([name, value]) => {
    // Keys cannot be quoted.
    const key = prefix + name.replaceAll(/[^\w.:/@-]/g, '_');
    if (isObject(value)) return flatten(value, `${key}.`);
    return value === undefined ? [] : [[key, escapeLogfmt(value)] as const];
  });
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function escapeLogfmt(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  if (/^[\w.,:;/@%+*!?&()[\]{}<>|~^$#-]+$/.test(text)) return text;
  // JSON does not escape all characters that end a line or control a terminal.
  return JSON.stringify(text).replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
