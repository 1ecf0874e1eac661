// Before `npm pack`: builds the program from nothing, so that no file of an older build gets into the package, and
// without source maps, which would point at sources that are not in it.
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (...args) => {
  // What npm says of a pack stands on standard output, perhaps as JSON: nothing else may.
  const stdio = ['ignore', 2, 'inherit'];
  const { status } = spawnSync('npm', args, { cwd: root, stdio, shell: process.platform === 'win32' });
  if (status !== 0) throw new Error(`Expected npm ${args.join(' ')} to succeed, found exit code ${status}`);
};

run('run', '--silent', 'setup');
rmSync(`${root}dist`, { recursive: true, force: true });
run('run', '--silent', 'build', '--', '--sourceMap', 'false');
