import { z } from 'zod';
import { Child, CPU_RESPONSE } from './child.ts';
import { compare, type Comparison } from './measure.ts';

/** Tasks of a listing. */
const TASKS = 100_000;
const COMMITS = 3;
const LEDGER_RESPONSE = z.object({ bytesPerTask: z.number() });

const COMMITTED_TASKS = 20_000;
const MEASURED_COMMITS = 30;

/**
 * Measures the memory of the accounts of tasks with three outputs each, and the commit of a listing of such
 * tasks.
 */
export async function benchLedger(): Promise<Comparison[]> {
  const start = (tasks: number, commits: number) =>
    Child.start('keeping-tasks', { args: [String(tasks), String(commits)], execArgv: ['--expose-gc'] });
  await using keeping = await start(TASKS, COMMITS);
  const { bytesPerTask } = await keeping.sendCommand('measure', LEDGER_RESPONSE);
  await using committing = await start(COMMITTED_TASKS, MEASURED_COMMITS);
  const { cpuMs } = await committing.sendCommand('commit', CPU_RESPONSE);
  return [
    compare(
      { name: `memory of a task with 3 outputs, of ${TASKS}`, unit: 'bytes', value: bytesPerTask },
      { measure: 'value', direction: 'at most', bound: 450 },
    ),
    compare(
      { name: `commit of ${COMMITTED_TASKS} tasks with 3 outputs, CPU`, unit: 'ms', value: cpuMs },
      { measure: 'value', direction: 'at most', bound: 40 },
    ),
  ];
}
