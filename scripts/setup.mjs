// Installs the dependencies of the lock file, unless they are already there: what lets
// `npm run demo` and `npm test` be the only commands on a fresh machine.
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined);

/** True when every package that the lock file wants (but for other platforms' binaries) is installed. */
function isInstalled() {
  const wanted = lock(`${root}package-lock.json`);
  const present = lock(`${root}node_modules/.package-lock.json`);
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional || present[path]?.version === entry.version,
  );
}

/** A link leads to the dependencies of another folder: installing would empty that one. */
function isLinked() {
  return lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

if (!isInstalled() && isLinked()) {
  console.error(
    'Expected node_modules to hold what the lock file wants, found a link to a folder that does not',
  );
  process.exitCode = 1;
} else if (!isInstalled()) {
  console.error('Installing dependencies (npm ci) …');
  const { status } = spawnSync('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
    shell: process.platform === 'win32',
  });
  process.exitCode = status ?? 1;
}
