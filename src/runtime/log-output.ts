import { fstatSync, writeSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { LogDestination } from './logger.ts';

/** Lines that wait for a slow reader of a pipe; beyond this size further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Standard error, as far as log lines need it. */
export interface LogStream {
  write(text: string, onWritten: (error?: unknown) => void): unknown;
  on(event: 'error', listener: () => void): unknown;
  readonly writableLength: number;
  readonly isTTY?: boolean;
  hasColors?(): boolean;
}

/**
 * Writes log lines to standard error, and drops and counts those that cannot be written: a full disk, a limit on file
 * sizes, or a reader that left or stalled must not end the process.
 */
export class LogOutput implements LogDestination {
  readonly #stream: LogStream;
  #writtenLines = 0;
  #droppedLines = 0;

  constructor(stream: LogStream) {
    this.#stream = stream;
    stream.on('error', () => undefined);
  }

  get droppedLines(): number {
    return this.#droppedLines;
  }

  get isTTY(): boolean {
    return this.#stream.isTTY === true;
  }

  hasColors(): boolean {
    return this.#stream.hasColors?.() === true;
  }

  write(line: string): void {
    const count = (error?: unknown): void => {
      if (error === undefined || error === null) this.#writtenLines += 1;
      else this.#droppedLines += 1;
    };
    if (this.#stream.writableLength > MAX_WAITING_BYTES) count('full');
    else this.#stream.write(line, count);
  }

  /** Returns true if all lines so far were dropped. */
  async isBroken(): Promise<boolean> {
    // The result of a write to a pipe is reported in a later turn of the event loop.
    await nextTurn();
    return this.#writtenLines === 0 && this.#droppedLines > 0;
  }
}

/**
 * Opens the log output of a process. Files are written without the stream of Node.js, which fails for good at the first
 * error: the disk may have space again later.
 */
export function openLogOutput(stream: LogStream & { readonly fd: number }): LogOutput {
  const { fd } = stream;
  const kind = fstatSync(fd);
  if (stream.isTTY === true || kind.isFIFO() || kind.isSocket()) return new LogOutput(stream);
  let isWithinLine = false;
  const write: LogStream['write'] = (line, onWritten) => {
    try {
      // A full disk may have cut the previous line.
      const bytes = Buffer.from(isWithinLine ? `\n${line}` : line);
      for (let written = 0; written < bytes.length; isWithinLine = written < bytes.length)
        written += writeSync(fd, bytes, written);
      onWritten();
    } catch (error) {
      onWritten(error);
    }
  };
  return new LogOutput({ write, on: stream.on.bind(stream), writableLength: 0 });
}
