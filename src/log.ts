import { pino } from 'pino';
import { toLogfmt } from './logfmt.ts';

/** Log lines have a constant message and their data in fields. */
export interface Logger extends Pick<pino.Logger, 'debug' | 'info' | 'warn' | 'error' | 'fatal'> {
  /** A logger that adds some fields to every line. */
  child(bindings: pino.Bindings): Logger;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'json' | 'logfmt';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Takes whole lines, each with its line feed. */
  readonly destination: { write(line: string): void };
}

/**
 * A logger that writes in this process and at once: a line is out before the process can end. Fields that
 * are called like secrets are cut out, though nobody is to log them in the first place.
 */
export function createLogger({ level, format, destination }: LoggerOptions): Logger {
  const logfmt = { write: (line: string) => destination.write(toLogfmt(line)) };
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: secretPaths(), censor: '<secret>' },
    },
    format === 'json' ? destination : logfmt,
  );
}

/** Paths of what is called like a secret, down to the depth of the headers of a request in a field. */
function secretPaths(): string[] {
  const names = ['secret', 'password', 'signature', 'authorization'];
  return ['', '*.', '*.*.'].flatMap((prefix) => names.map((name) => prefix + name));
}
