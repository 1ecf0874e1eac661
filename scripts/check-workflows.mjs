// Checks the workflows with zizmor, a program of Python. If it is missing, this fails in CI; elsewhere, it
// says so.
import { spawnSync } from 'node:child_process';
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const env = { ...process.env, PATH: `${process.env.PATH}${delimiter}${root}.cache/programs/bin` };
const args = ['--offline', '--no-progress', '--quiet', '--min-severity=medium', '.github'];
const { status, error } = spawnSync('zizmor', args, { cwd: root, env, stdio: 'inherit' });
if (error === undefined) process.exitCode = status ?? 1;
else {
  console.error('NOT CHECKED: zizmor is not installed');
  if (process.env.CI === 'true') process.exitCode = 1;
}
