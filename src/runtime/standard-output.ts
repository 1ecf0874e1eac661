import { fstatSync, writeFileSync } from 'node:fs';
import type { Writable } from 'node:stream';
import { getErrorCode } from './errors.ts';

/** Standard output. It writes all, or keeps the first error; a reader that has closed the pipe has read enough. */
export class StandardOutput {
  readonly #stream: Pick<Writable, 'write' | 'on'>;
  readonly #file: number | undefined;
  #error: unknown;

  constructor(stream: Pick<Writable, 'write' | 'on'> & { readonly fd?: number }) {
    const { fd } = stream;
    this.#stream = stream;
    this.#file = fd !== undefined && fstatSync(fd).isFile() ? fd : undefined;
    stream.on('error', (error) => {
      if (getErrorCode(error) !== 'EPIPE') this.#error ??= error;
    });
  }

  /** The stream of Node.js would ignore that a disk took only a part. */
  write(text: string | Uint8Array): void {
    if (this.#file === undefined) this.#stream.write(text);
    else if (this.#error === undefined) this.#writeToFile(this.#file, text);
  }

  #writeToFile(file: number, text: string | Uint8Array): void {
    try {
      writeFileSync(file, text);
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
