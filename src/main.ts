#!/usr/bin/env node
import { hostname } from 'node:os';
import { systemClock } from './clock.ts';
import type { Command } from './commands/command.ts';
import { MACHINE_FILES } from './config/machine-files.ts';
import { LastWords } from './last-words.ts';
import { hearReloads } from './reload-requests.ts';

/** How each command is loaded: its modules take a part of a second, in which signals must be heard already. */
const COMMANDS: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['serve', async () => (await import('./commands/serve.ts')).serve],
  ['once', async () => (await import('./commands/once.ts')).once],
  ['simulate', async () => (await import('./commands/simulate.ts')).simulate],
  ['demo', async () => (await import('./commands/demo.ts')).demo],
  ['healthcheck', async () => (await import('./commands/healthcheck.ts')).healthcheck],
]);
/** The commands that read their configuration again on SIGHUP, which ends all others. */
const RELOADING: readonly string[] = ['serve'];

/** Chooses the command: the first argument, or `serve` where that is a flag. */
async function main(args: readonly string[], lastWords: LastWords): Promise<number> {
  const [first = '--', ...rest] = args;
  const [name, commandArgs] = first.startsWith('-') ? ['serve', args] : [first, rest];
  const load = COMMANDS.get(name);
  if (load === undefined) {
    const known = [...COMMANDS.keys()].join(', ');
    process.stderr.write(
      `command line: expected a command (${known}) or a flag, found ${JSON.stringify(name)}\n`,
    );
    return 2;
  }
  const signal = endOnSignals();
  const onReload = RELOADING.includes(name) ? hearReloads(process) : () => undefined;
  const command = await load();
  return await command(commandArgs, {
    stdout: process.stdout,
    stderr: process.stderr,
    environment: process.env,
    files: MACHINE_FILES,
    hostName: hostname,
    signal,
    onReload,
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
