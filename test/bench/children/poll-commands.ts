import { measureCpuMs } from '../measure.ts';
import { serveCommands, getPeakRssMb } from './command-server.ts';

/** Responds to `poll` with the cost of one poll, and to `memory` with the peak memory so far. */
export function servePollCommands(poll: (url: string) => Promise<unknown>): void {
  const [url = ''] = process.argv.slice(2);
  serveCommands({
    poll: async () => ({ cpuMs: await measureCpuMs(() => poll(url)) }),
    memory: () => ({ peakRssMb: getPeakRssMb() }),
  });
}
