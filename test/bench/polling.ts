import { measureInterleaved, compare, quantile, type Comparison } from './measure.ts';
import { PollingProcess, serveBody, type BodySize } from './polling-process.ts';

/** The size of the polled listing, and the number of processes of each kind whose first polls are compared. */
export interface PollingSize extends BodySize {
  readonly processes: number;
}

const SIZE: PollingSize = { users: 1_400_000, tasks: 12_000, processes: 5 };

/** The exporter, and a program that reads the body and discards it. */
const KINDS = ['exporter-polls', 'discarding'] as const;

/** Measures first polls over loopback, each in a process of its own, compilation by V8 included. */
export async function benchPolling(size: PollingSize = SIZE): Promise<Comparison[]> {
  await using body = await serveBody(size);
  const peaks: Readonly<Record<(typeof KINDS)[number], number[]>> = { 'exporter-polls': [], discarding: [] };
  const cpu = await measureInterleaved(
    size.processes,
    KINDS.map((kind) => async () => {
      await using fresh = await PollingProcess.start(kind, body.url);
      const { cpuMs } = await fresh.poll();
      peaks[kind].push(await fresh.getPeakRssMb());
      return cpuMs;
    }),
  );
  const memory = KINDS.map((kind) => quantile(peaks[kind], 0.5));
  const name = `first poll of ${body.megabytes.toFixed(0)} MB`;
  const figures = ([value = 0, referenceValue = 0]: readonly number[]) => ({
    value,
    reference: 'reading and discarding',
    referenceValue,
  });
  return [
    compare(
      { name: `${name}, CPU`, unit: 'ms', ...figures(cpu) },
      { measure: 'ratio', direction: 'at most', bound: 2.2 },
    ),
    compare(
      { name: `${name}, peak memory`, unit: 'MB', ...figures(memory) },
      { measure: 'excess', direction: 'at most', bound: 32 },
    ),
  ];
}
