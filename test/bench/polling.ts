import { z } from 'zod';
import { Child, CPU_RESPONSE } from './child.ts';
import { measureInterleaved, compare, quantile, type Comparison } from './measure.ts';
import { createExporterEnv, serveBody, type BodySize } from './served-body.ts';

const SIZE: BodySize = { users: 1_400_000, tasks: 12_000 };
/** Processes of each kind whose first polls are compared. */
const PROCESSES = 5;

const MEMORY_RESPONSE = z.object({ peakRssMb: z.number() });

/** The exporter, and a program that reads the body and discards it. */
const KINDS = ['exporter-polls', 'discarding'] as const;

/** Measures first polls over loopback, each in a process of its own, compilation by V8 included. */
export async function benchPolling(): Promise<Comparison[]> {
  await using body = await serveBody(SIZE);
  const peaks: Readonly<Record<(typeof KINDS)[number], number[]>> = { 'exporter-polls': [], discarding: [] };
  const cpu = await measureInterleaved(
    PROCESSES,
    KINDS.map((kind) => async () => {
      await using fresh = await Child.start(kind, { args: [body.url], env: createExporterEnv(body.url) });
      const { cpuMs } = await fresh.sendCommand('poll', CPU_RESPONSE);
      peaks[kind].push((await fresh.sendCommand('memory', MEMORY_RESPONSE)).peakRssMb);
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
