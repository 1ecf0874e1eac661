import { createLogger, type Logger } from '../../src/log.ts';

/** A logger at `debug`, and the lines that it wrote. */
export function recordingLogger(): {
  readonly logger: Logger;
  readonly lines: { level: string; msg: string; text: string }[];
} {
  const lines: { level: string; msg: string; text: string }[] = [];
  const destination = {
    write(text: string): void {
      const line: { level: string; msg: string } = JSON.parse(text);
      lines.push({ level: line.level, msg: line.msg, text });
    },
  };
  return { logger: createLogger({ level: 'debug', format: 'json', destination }), lines };
}
