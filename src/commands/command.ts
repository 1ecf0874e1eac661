import type { ConfigFileSystem } from '../config/file-system.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { LogOutput } from '../runtime/output.ts';

/** Takes what a command prints. */
export interface Output {
  write(text: string | Uint8Array): void;
}

/** Dependencies of a command on its process. */
export interface CommandIo {
  readonly stdout: Output;
  /** For messages to the user. */
  readonly stderr: NodeJS.WritableStream;
  /** For log lines. */
  readonly log: LogOutput;
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  readonly files: ConfigFileSystem;
  readonly hostName: () => string;
  /** Ends the command. */
  readonly signal: AbortSignal;
  /** Sets the listener for reload signals; calls it immediately if there was one before. */
  readonly onReload: (listener: () => void) => void;
  /** Makes a rejection of the command, and any uncaught error, a log line. */
  readonly reportFatalErrorsTo: (logger: Logger) => void;
  readonly clock: Clock;
}

/** Runs until it has finished or the signal aborts, and returns the exit code: 2 for a wrong command line or configuration. */
export type Command = (args: readonly string[], io: CommandIo) => Promise<number>;
