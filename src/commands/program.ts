import { hostname } from 'node:os';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Command, CommandIo } from './command.ts';
import { LOCAL_FILE_SYSTEM } from '../config/file-system.ts';
import { waitForAbort } from '../runtime/abort.ts';
import { FirstFailure } from '../runtime/background-task.ts';
import { systemClock } from '../runtime/clock.ts';
import { getErrorMessage } from '../runtime/errors.ts';
import type { Logger } from '../runtime/logger.ts';
import { drain, LogOutput, StandardOutput } from '../runtime/output.ts';
import { abortOnSignals } from '../runtime/signals.ts';
import { prepareWebAssembly } from '../runtime/web-assembly.ts';

/** Imported on demand: that takes a fraction of a second, and signals have to be handled before. */
const COMMAND_LOADERS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async () => (await import('./serve.ts')).serve],
  ['once', async () => (await import('./once.ts')).once],
  ['healthcheck', async () => (await import('./healthcheck.ts')).healthcheck],
]);

/** After a shutdown or a bug, output whose reader has stalled must not keep the process alive. */
const DRAIN_TIMEOUT_MS = 1000;

/** Signals that `main.ts` got before the program was loaded. */
interface EarlySignals {
  /** Whether there was a SIGHUP. */
  readonly hasHungUp: () => boolean;
  /** Whether process 1 got a SIGTERM or SIGINT. Further ones are for the caller to handle. */
  readonly hasStopped: () => boolean;
}

/**
 * Runs the command that the first argument names, `serve` if that is a flag, and returns the exit code.
 * SIGHUP kills all commands but `serve`.
 */
async function runCommand(
  args: readonly string[],
  hasHungUp: () => boolean,
  io: Pick<CommandIo, 'stdout' | 'signal' | 'reportTo'>,
): Promise<number> {
  const [first = '--', ...rest] = args;
  const [name, commandArgs] = first.startsWith('-') ? ['serve', args] : [first, rest];
  const load = COMMAND_LOADERS.get(name);
  if (load === undefined) {
    const known = [...COMMAND_LOADERS.keys()];
    const { expectedFound, formatSuggestion, formatValue } = await import('../config/config-error.ts');
    const expected = `a command (${known.join(', ')}) or a flag`;
    const flag = ['--config.check', '--help', '--version'].find((text) => /\w+$/.exec(text)?.[0] === name);
    const suggestion = flag === undefined ? formatSuggestion(name, known) : `did you mean ${flag}?`;
    const message = expectedFound(expected, formatValue(name), suggestion);
    process.stderr.write(`command line: ${message}\n`);
    return 2;
  }
  if (name !== 'serve') {
    // Node.js reports a signal in the turn of the event loop after it came.
    await nextTurn();
    process.removeAllListeners('SIGHUP');
    if (hasHungUp()) process.kill(process.pid, 'SIGHUP');
  }
  const missing = prepareWebAssembly();
  if (missing !== undefined) {
    process.stderr.write(`xvs-exporter: ${missing}\n`);
    return 2;
  }
  const command = await load();
  return await command(commandArgs, {
    stderr: process.stderr,
    log: new LogOutput(process.stderr),
    environment: process.env,
    files: LOCAL_FILE_SYSTEM,
    hostName: hostname,
    onReload: (listener) => {
      process.on('SIGHUP', listener);
      if (hasHungUp()) listener();
    },
    clock: systemClock,
    ...io,
  });
}

/** Runs the program and returns its exit code, when everything that it printed has been written. */
export async function runProgram(
  args: readonly string[],
  { hasHungUp, hasStopped }: EarlySignals,
): Promise<number> {
  const signal = abortOnSignals(process, hasStopped);
  /** Reports the error that ends the process: as plain text until a command has a logger. */
  let reportFatalError = (error: unknown): void => {
    const stack = error instanceof Error ? error.stack : undefined;
    process.stderr.write(`xvs-exporter: ${stack ?? getErrorMessage(error)}\n`);
  };
  const reportTo = (logger: Logger): void => {
    reportFatalError = (error) => logger.fatal({ err: error }, 'Unexpected error; exiting');
    // There is none with NODE_NO_WARNINGS.
    if (process.listenerCount('warning') === 0) return;
    process.removeAllListeners('warning').on('warning', ({ name, message }) => {
      logger.warn({ name, warning: message }, 'Node.js warned');
    });
  };
  const failure = new FirstFailure();
  // Unhandled rejections arrive here too.
  process.on('uncaughtException', failure.report);
  const stdout = new StandardOutput(process.stdout);

  let exitCode: number;
  let drainDeadline = waitForAbort(signal);
  try {
    exitCode = await Promise.race([
      runCommand(args, hasHungUp, { stdout, signal, reportTo }),
      failure.promise,
    ]);
  } catch (error) {
    reportFatalError(error);
    exitCode = 1;
    drainDeadline = Promise.resolve();
  }
  // Writes to a pipe are asynchronous beyond its capacity of 64 KiB, and `process.exit` discards them.
  const timeout = drainDeadline.then(() => systemClock.sleep(DRAIN_TIMEOUT_MS));
  const error = await Promise.race([stdout.drain(), timeout]);
  if (error !== undefined) {
    process.stderr.write(`xvs-exporter: Writing to standard output failed: ${getErrorMessage(error)}\n`);
    if (exitCode === 0) exitCode = 1;
  }
  await Promise.race([drain(process.stderr), timeout]);
  return exitCode;
}
