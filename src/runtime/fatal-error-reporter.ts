import { getErrorMessage } from './errors.ts';
import type { Logger } from './logger.ts';

/** Reports the error that ends the process: as plain text until a command has a logger, then as a log line. */
export class FatalErrorReporter {
  #write: (error: unknown) => void;

  constructor(stderr: { write(text: string): unknown }) {
    this.#write = (error) => {
      const stack = error instanceof Error ? error.stack : undefined;
      stderr.write(`xvs-exporter: ${stack ?? getErrorMessage(error)}\n`);
    };
  }

  logTo(logger: Logger): void {
    this.#write = (error) => logger.fatal({ err: error }, 'Unexpected error; exiting');
  }

  report(error: unknown): void {
    this.#write(error);
  }
}
