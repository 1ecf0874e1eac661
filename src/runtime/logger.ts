import { pino } from 'pino';
import { toLogfmt } from './logfmt.ts';
import { toPretty } from './pretty-log.ts';

/** Log lines have a constant message and their data in fields. */
export interface Logger extends Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  /** A logger that adds some fields to every line. */
  child(bindings: pino.Bindings): Logger;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
/** `pretty` is for people; `auto` is that at a terminal, and elsewhere `json`. */
export type LogFormat = 'auto' | 'json' | 'logfmt' | 'pretty';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly destination: LogDestination;
}

/** Takes whole lines, each with its line feed. */
export interface LogDestination {
  write(line: string): void;
  /** Whether it is a terminal. */
  readonly isTTY?: boolean;
  /** Whether that terminal shows colours, and the user wants them (`NO_COLOR`). */
  hasColors?(): boolean;
}

/**
 * A logger that writes in this process and at once: a line is out before the process can end. Fields that
 * are called like secrets are cut out, though nobody is to log them in the first place.
 */
export function createLogger({ level, format, destination }: LoggerOptions): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths(), censor: '<secret>' },
    },
    { write: writerOf(format, destination) },
  );
}

function writerOf(format: LogFormat, destination: LogDestination): (line: string) => void {
  const isTerminal = destination.isTTY === true;
  switch (format) {
    case 'auto':
      return writerOf(isTerminal ? 'pretty' : 'json', destination);
    case 'json':
      return (line) => destination.write(line);
    case 'logfmt':
      return (line) => destination.write(toLogfmt(line));
    case 'pretty': {
      const isColoured = isTerminal && destination.hasColors?.() === true;
      return (line) => destination.write(toPretty(line, isColoured));
    }
  }
}

/** Paths of what is called like a secret, down to the depth of the headers of a request in a field. */
function secretPaths(): string[] {
  const names = ['secret', 'password', 'signature', 'authorization'];
  return ['', '*.', '*.*.'].flatMap((prefix) => names.map((name) => prefix + name));
}
