import { readFileSync } from 'node:fs';

/** What a child process answers to a command: figures, by name. */
export type CommandHandlers = Readonly<Record<string, () => object | Promise<object>>>;

/** Answers the commands of the process that started this one, one at a time, and ends with it. */
export function serveCommands(answers: CommandHandlers): void {
  process.on('disconnect', () => process.exit());
  process.on('message', (command) => {
    // What goes wrong is thrown on: it ends this process, of which the other learns.
    void handleCommand(answers, String(command));
  });
  process.send?.('ready');
}

async function handleCommand(answers: CommandHandlers, command: string): Promise<void> {
  const run = answers[command];
  if (run === undefined)
    throw new Error(`Expected one of ${Object.keys(answers).join(', ')}, found ${command}`);
  process.send?.(await run());
}

/**
 * The most memory that this process has held so far, in megabytes.
 *
 * Not `process.resourceUsage().maxRSS`, where there is another source: Linux lets a process inherit it from the one
 * that forked it.
 */
export function getPeakRssMb(): number {
  if (process.platform !== 'linux') return (process.resourceUsage().maxRSS * 1024) / 1e6;
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return (Number(kibibytes) * 1024) / 1e6;
}

/** Answers `begin` and `end` with what this process used in between. */
export function createUsageHandlers(): CommandHandlers {
  let cpu = process.cpuUsage();
  let sinceMs = performance.now();
  return {
    begin: () => {
      cpu = process.cpuUsage();
      sinceMs = performance.now();
      return {};
    },
    end: () => {
      const { user, system } = process.cpuUsage(cpu);
      const cpuShare = (user + system) / 1000 / (performance.now() - sinceMs);
      return { cpuShare, peakRssMb: getPeakRssMb() };
    },
  };
}

/** Answers with the CPU time that this process used so far. */
export function getCpuMs(): { cpuMs: number } {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000 };
}
