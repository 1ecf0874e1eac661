import { z } from 'zod';
import { Child } from './child.ts';
import { compare, type Comparison } from './measure.ts';

/** Tasks of a listing. */
const TASKS = 100_000;
const COMMITS = 3;
const LEDGER_RESPONSE = z.object({ bytesPerTask: z.number() });

/** Measures the memory of the accounts of tasks with three outputs each. */
export async function benchLedger(): Promise<Comparison[]> {
  await using child = await Child.start('keeping-tasks', {
    args: [String(TASKS), String(COMMITS)],
    execArgv: ['--expose-gc'],
  });
  const { bytesPerTask } = await child.sendCommand('measure', LEDGER_RESPONSE);
  return [
    compare(
      { name: `memory of a task with 3 outputs, of ${TASKS}`, unit: 'bytes', value: bytesPerTask },
      { measure: 'value', direction: 'at most', bound: 450 },
    ),
  ];
}
