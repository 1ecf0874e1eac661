import type { Clock } from '../clock.ts';
import type { ConfigurationFiles } from '../config/files.ts';
import type { LastWords } from '../last-words.ts';

/** What a command has of the world outside. */
export interface CommandIo {
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly files: ConfigurationFiles;
  readonly hostName: () => string;
  /** Ends the command when it aborts. */
  readonly signal: AbortSignal;
  /**
   * Calls back each time that the operator asks for the configuration to be read again, and at once where that has been
   * asked for by now.
   */
  readonly onReload: (listener: () => void) => void;
  /** Says what ends the process, should the command reject or anything throw where nobody catches it. */
  readonly lastWords: LastWords;
  readonly clock: Clock;
}

/** Runs until it is done or the signal aborts, and gives the exit code: 2 is a mistake of the caller. */
export type Command = (args: readonly string[], io: CommandIo) => Promise<number>;

/** Resolves when the signal aborts. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
