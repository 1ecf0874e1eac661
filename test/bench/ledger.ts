import { z } from 'zod';
import { Child } from './child.ts';
import { compare, type Comparison, type Goal } from './measure.ts';

/** The number of tasks of a listing, and of commits. */
export interface LedgerSize {
  readonly tasks: number;
  readonly rounds: number;
}

const SIZE: LedgerSize = { tasks: 100_000, rounds: 7 };
const LEDGER_RESPONSE = z.object({ bytesPerTask: z.number(), commitMs: z.number() });
const BYTES_GOAL: Goal = { measure: 'value', direction: 'at most', bound: 420 };
const COMMIT_GOAL: Goal = { measure: 'value', direction: 'at most', bound: 150 };

/** Measures the memory of the accounts of tasks with three outputs each, and the duration of a commit by the clock. */
export async function benchLedger({ tasks, rounds }: LedgerSize = SIZE): Promise<Comparison[]> {
  await using child = await Child.start('keeping-tasks', {
    args: [String(tasks), String(rounds)],
    execArgv: ['--expose-gc'],
  });
  const { bytesPerTask, commitMs } = await child.sendCommand('measure', LEDGER_RESPONSE);
  const name = `ledger of ${tasks} tasks with 3 outputs each`;
  return [
    compare({ name: `${name}, kept per task`, unit: 'bytes', value: bytesPerTask }, BYTES_GOAL),
    compare({ name: `${name}, commit`, unit: 'ms', value: commitMs }, COMMIT_GOAL),
  ];
}
