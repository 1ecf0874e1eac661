import type { Logger } from './log.ts';

/** How a process says what ends it unexpectedly: in plain text, until a command has a logger. */
export class LastWords {
  #say: (error: unknown) => void;

  constructor(stderr: { write(text: string): unknown }) {
    this.#say = (error) => stderr.write(`xvs-exporter: ${stackOf(error)}\n`);
  }

  /** One line of the log from now on. */
  logTo(logger: Logger): void {
    // Not the error itself: nobody knows what else it carries.
    this.#say = (error) =>
      logger.fatal({ error: messageOf(error), stack: stackOf(error) }, 'Ending: unexpected error');
  }

  say(error: unknown): void {
    this.#say(error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
