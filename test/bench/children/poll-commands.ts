import { cpuMs } from '../measure.ts';
import { answer, peakRssMb } from './answering.ts';

/** Answers `poll` with what one poll costs, and `memory` with the most that was held so far. */
export function answerPolls(poll: (url: string) => Promise<unknown>): void {
  const [url = ''] = process.argv.slice(2);
  answer({
    poll: async () => {
      const startedMs = performance.now();
      const cpu = await cpuMs(() => poll(url));
      return { cpuMs: cpu, wallMs: performance.now() - startedMs };
    },
    memory: () => ({ peakRssMb: peakRssMb() }),
  });
}
