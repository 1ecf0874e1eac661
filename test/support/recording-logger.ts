import { createLogger, type Logger } from '../../src/runtime/logger.ts';

export interface LogLine extends Readonly<Record<string, unknown>> {
  readonly level: string;
  readonly msg: string;
}

/** Creates a logger of level `debug` that records its lines. */
export function createRecordingLogger(): { readonly logger: Logger; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const write = (text: string): void => {
    const { time: _time, ...line }: LogLine = JSON.parse(text);
    lines.push(line);
  };
  return { lines, logger: createLogger({ level: 'debug', format: 'json', destination: { write } }) };
}
