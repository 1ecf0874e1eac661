// Runs before `npm pack`: builds the program in an empty folder, so that the package contains no file of an
// older build, and without source maps, whose sources are not in the package. npm installs a package of a
// registry with the versions of its `npm-shrinkwrap.json`, here those of the lock file. `postpack` removes
// that file, with which `npm ci` would fail.
import { spawnSync } from 'node:child_process';
import { copyFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const run = (...args) => {
  // `npm pack --json` prints JSON on standard output, so this script must not print there.
  const stdio = ['ignore', 2, 'inherit'];
  const { status } = spawnSync('npm', args, { cwd: root, stdio, shell: process.platform === 'win32' });
  if (status !== 0) throw new Error(`Expected npm ${args.join(' ')} to succeed, found exit code ${status}`);
};

run('run', '--silent', 'setup');
rmSync(`${root}dist`, { recursive: true, force: true });
run('run', '--silent', 'build', '--', '--sourceMap', 'false');
copyFileSync(`${root}package-lock.json`, `${root}npm-shrinkwrap.json`);
