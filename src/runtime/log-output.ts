import { fstatSync, writeFileSync } from 'node:fs';
import type { Writable } from 'node:stream';

/** Lines that wait for a slow reader of a pipe; beyond this size further lines are dropped. */
const MAX_WAITING_BYTES = 1024 * 1024;

/**
 * Writes log lines to standard error, and drops and counts those that cannot be written: a full disk, a limit on file
 * sizes, or a reader that left or stalled must not end the process.
 */
export class LogOutput {
  #droppedLines = 0;
  readonly #stream: Pick<Writable, 'write' | 'writableLength'>;
  readonly #file: number | undefined;
  /** A full disk may have cut the last line. */
  #separator = '';

  constructor(stream: Pick<Writable, 'write' | 'writableLength' | 'on'> & { readonly fd?: number }) {
    const { fd } = stream;
    this.#stream = stream;
    this.#file = fd !== undefined && fstatSync(fd).isFile() ? fd : undefined;
    stream.on('error', () => undefined);
  }

  get droppedLines(): number {
    return this.#droppedLines;
  }

  readonly write = (line: string): void => {
    if (this.#file !== undefined) this.#writeToFile(this.#file, line);
    else if (this.#stream.writableLength > MAX_WAITING_BYTES) this.#droppedLines += 1;
    else this.#stream.write(line, (error) => (this.#droppedLines += error instanceof Error ? 1 : 0));
  };

  /** The stream of Node.js would fail for good at the first error: a disk may have space again later. */
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
