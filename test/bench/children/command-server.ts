import { readFileSync } from 'node:fs';

/** Handlers by command; each returns its response. */
export type CommandHandlers = Readonly<Record<string, () => object | Promise<object>>>;

/** Responds to commands of the parent process, one at a time, and exits when the parent does. */
export function serveCommands(answers: CommandHandlers): void {
  process.on('disconnect', () => process.exit());
  process.on('message', (command) => {
    // An error ends this process, and the parent rejects the command.
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
 * Returns the peak memory of this process in megabytes. On Linux, `process.resourceUsage().maxRSS` includes
 * that of the parent process before the fork, so this reads `VmHWM`.
 */
export function getPeakRssMb(): number {
  if (process.platform !== 'linux') return (process.resourceUsage().maxRSS * 1024) / 1e6;
  const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return (Number(kibibytes) * 1024) / 1e6;
}

/** Bytes of a block in which the system counts what a process writes to its disk. */
const BLOCK_BYTES = 512;

/**
 * Creates handlers that return the CPU time and the bytes written between `begin` and `end`, and peak memory.
 */
export function createUsageHandlers(): CommandHandlers {
  let cpu = process.cpuUsage();
  let { fsWrite: blocks } = process.resourceUsage();
  let sinceMs = performance.now();
  return {
    begin: () => {
      cpu = process.cpuUsage();
      blocks = process.resourceUsage().fsWrite;
      sinceMs = performance.now();
      return {};
    },
    end: () => {
      const { user, system } = process.cpuUsage(cpu);
      const elapsedMs = performance.now() - sinceMs;
      const cpuShare = (user + system) / 1000 / elapsedMs;
      const written = (process.resourceUsage().fsWrite - blocks) * BLOCK_BYTES;
      return { cpuShare, peakRssMb: getPeakRssMb(), writtenBytesPerMs: written / elapsedMs };
    },
  };
}

/** Returns the CPU time of this process since its start. */
export function getCpuMs(): { cpuMs: number } {
  const { user, system } = process.cpuUsage();
  return { cpuMs: (user + system) / 1000 };
}
