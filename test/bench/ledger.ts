import { z } from 'zod';
import { Child } from './child.ts';
import { compare, type Comparison } from './measure.ts';

/** The number of tasks of a listing, and of commits. */
export interface LedgerSize {
  readonly tasks: number;
  readonly rounds: number;
}

const SIZE: LedgerSize = { tasks: 100_000, rounds: 3 };
const LEDGER_RESPONSE = z.object({ bytesPerTask: z.number() });

/** Measures the memory of the accounts of tasks with three outputs each. */
export async function benchLedger({ tasks, rounds }: LedgerSize = SIZE): Promise<Comparison[]> {
  await using child = await Child.start('keeping-tasks', {
    args: [String(tasks), String(rounds)],
    execArgv: ['--expose-gc'],
  });
  const { bytesPerTask } = await child.sendCommand('measure', LEDGER_RESPONSE);
  return [
    compare(
      { name: `memory of a task with 3 outputs, of ${tasks}`, unit: 'bytes', value: bytesPerTask },
      { measure: 'value', direction: 'at most', bound: 450 },
    ),
  ];
}
