#!/usr/bin/env node
import { systemClock } from './clock.ts';
import type { Command } from './commands/command.ts';
import { demo } from './commands/demo.ts';
import { healthcheck } from './commands/healthcheck.ts';
import { once } from './commands/once.ts';
import { serve } from './commands/serve.ts';
import { simulate } from './commands/simulate.ts';
import { MACHINE_FILES } from './config/machine-files.ts';
import { LastWords } from './last-words.ts';

const COMMANDS: ReadonlyMap<string, Command> = new Map([
  ['serve', serve],
  ['once', once],
  ['simulate', simulate],
  ['demo', demo],
  ['healthcheck', healthcheck],
]);

/** Chooses the command: the first argument, or `serve` where that is a flag. */
async function main(args: readonly string[], lastWords: LastWords): Promise<number> {
  const [first = '--', ...rest] = args;
  const [name, commandArgs] = first.startsWith('-') ? ['serve', args] : [first, rest];
  const command = COMMANDS.get(name);
  if (command === undefined) {
    const known = [...COMMANDS.keys()].join(', ');
    process.stderr.write(
      `command line: expected a command (${known}) or a flag, found ${JSON.stringify(name)}\n`,
    );
    return 2;
  }
  return await command(commandArgs, {
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    files: MACHINE_FILES,
    signal: endOnSignals(),
    onReload: (listener) => process.on('SIGHUP', listener),
    lastWords,
    clock: systemClock,
  });
}

/** Aborts on SIGINT and SIGTERM. A second one finds no handler any more, and so ends the process at once. */
function endOnSignals(): AbortSignal {
  const controller = new AbortController();
  const end = (): void => {
    process.off('SIGINT', end).off('SIGTERM', end);
    controller.abort();
  };
  process.on('SIGINT', end).on('SIGTERM', end);
  return controller.signal;
}

const lastWords = new LastWords(process.stderr);
/** Writes to a pipe, a file or a terminal are over when they return: nothing is lost by ending at once. */
const endBy = (error: unknown): never => {
  lastWords.say(error);
  process.exit(1);
};
// A promise that rejects unheard comes here too.
process.on('uncaughtException', endBy);
process.exit(await main(process.argv.slice(2), lastWords).catch(endBy));
