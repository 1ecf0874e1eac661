import { fstatSync, writeFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { getErrorCode } from './errors.ts';

/** `process.stdout` or `process.stderr`. */
type StandardStream = Pick<Writable, 'write' | 'writableLength' | 'on'> & { readonly fd?: number };

/**
 * The descriptor of a stream to a file. Node.js does not report that a full disk took only a part. Numbers
 * would be left in a buffer from which Node.js 20 takes every link that it resolves next for a pipe.
 */
function findFile({ fd }: StandardStream): number | undefined {
  return fd !== undefined && fstatSync(fd, { bigint: true }).isFile() ? fd : undefined;
}

/** Writes everything, or keeps the first error. A pipe that its reader has closed is no error. */
export class StandardOutput {
  readonly #stream: StandardStream;
  readonly #file: number | undefined;
  #error: unknown;

  constructor(stream: StandardStream) {
    this.#stream = stream;
    this.#file = findFile(stream);
    stream.on('error', (error) => {
      if (getErrorCode(error) !== 'EPIPE') this.#error ??= error;
    });
  }

  write(text: string | Uint8Array): void {
    if (this.#error !== undefined) return;
    try {
      if (this.#file === undefined) this.#stream.write(text);
      else writeFileSync(this.#file, text);
    } catch (error) {
      this.#error = error;
    }
  }

  /** Resolves when everything written has been passed to the system, with the error if it has not. */
  async drain(): Promise<unknown> {
    await drain(this.#stream);
    return this.#error;
  }
}

/** Resolves when everything written to a stream has been passed to the system, or cannot be. */
export function drain(stream: Pick<Writable, 'write' | 'on'>): Promise<void> {
  return new Promise((resolve) => {
    stream.on('error', () => resolve());
    stream.write('', () => resolve());
  });
}

/** Lines that wait for a slow reader of a pipe; beyond this size further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Drops and counts lines that it cannot write: a full disk or a stalled reader must not end the process. */
export class LogOutput {
  #droppedLines = 0;
  readonly #stream: StandardStream;
  readonly #file: number | undefined;
  /** A full disk may have cut the last line. */
  #separator = '';

  constructor(stream: StandardStream) {
    this.#stream = stream;
    this.#file = findFile(stream);
    stream.on('error', () => undefined);
  }

  get droppedLines(): number {
    return this.#droppedLines;
  }

  write(line: string): void {
    if (this.#file !== undefined) this.#writeToFile(this.#file, line);
    else if (this.#stream.writableLength > MAX_WAITING_BYTES) this.#droppedLines += 1;
    else this.#stream.write(line, (error) => (this.#droppedLines += error instanceof Error ? 1 : 0));
  }

  #writeToFile(file: number, line: string): void {
    try {
      writeFileSync(file, this.#separator + line);
      this.#separator = '';
    } catch {
      this.#separator = '\n';
      this.#droppedLines += 1;
    }
  }
}

/** Wraps text at spaces into lines of at most `width` characters. A longer word has a line of its own. */
export function wrapText(text: string, width: number): readonly string[] {
  const line = new RegExp(String.raw`\S.{0,${width - 1}}(?!\S)|\S+`, 'gs');
  return text.match(line) ?? [];
}
