import { pino } from 'pino';
import { getErrorCode } from './errors.ts';
import { toLogfmt, toPretty } from './log-formats.ts';

/** A log line has a constant message, its data in `snake_case` fields, and an error in `err`. */
export interface Logger extends Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  /** Creates a logger that adds fields to every line. */
  child(bindings: pino.Bindings): Logger;
}

type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** `pretty` is for people; `auto` is `pretty` at a terminal and `json` elsewhere. */
export type LogFormat = 'auto' | 'json' | 'logfmt' | 'pretty';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly destination: LogDestination;
}

/** Receives complete lines with their line feed. */
export interface LogDestination {
  write(line: string): void;
  /** True for a terminal. */
  readonly isTTY?: boolean;
  /** Returns true if the terminal supports colours and `NO_COLOR` is not set. */
  hasColors?(): boolean;
}

/**
 * Creates a logger that writes synchronously to its destination. It censors fields with the names of secrets, as a
 * second line of defence.
 *
 * `err` may be an Error or a message. Pass the message of an expected failure, and the Error itself, which has a stack, of a
 * bug.
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
    { write: createLineWriter(format, destination) },
  );
}

/** Copies an allowlist of properties: others, such as the headers of a request, may contain a secret. */
function serializeError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) };
  const { type, message, stack } = pino.stdSerializers.err(error);
  return { type, message, code: getErrorCode(error), stack };
}

function createLineWriter(format: LogFormat, destination: LogDestination): (line: string) => void {
  const isTerminal = destination.isTTY === true;
  const isColored = isTerminal && destination.hasColors?.() === true;
  const converters = {
    json: (line: string) => line,
    logfmt: toLogfmt,
    pretty: (line: string) => toPretty(line, isColored),
  };
  const convert = converters[format === 'auto' ? (isTerminal ? 'pretty' : 'json') : format];
  return (line) => destination.write(convert(line));
}

/** Builds the paths of secrets, down to the headers of a request in a field. */
function buildSecretPaths(): string[] {
  const names = ['secret', 'password', 'signature', 'authorization'];
  return ['', '*.', '*.*.'].flatMap((prefix) => names.map((name) => prefix + name));
}
