import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs amtool and returns its output. Rejects if the exit code is not 0. */
export async function runAmtool(...args: readonly string[]): Promise<string> {
  const { stdout } = await run('amtool', args);
  return stdout.trim();
}
