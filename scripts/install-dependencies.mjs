/** Installs the dependencies of the lock file unless they are installed. */
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const lock = (path) => (existsSync(path) ? JSON.parse(readFileSync(path, 'utf8')).packages : undefined);

/** True if every package of the lock file is installed, except for binaries of other platforms. */
function isInstalled() {
  const wanted = lock(`${root}package-lock.json`);
  const present = lock(`${root}node_modules/.package-lock.json`);
  if (wanted === undefined || present === undefined) return false;
  return Object.entries(wanted).every(
    ([path, entry]) => path === '' || entry.optional || present[path]?.version === entry.version,
  );
}

/** True if node_modules is a link. Installing would then empty the folder that it refers to. */
function isLinked() {
  return lstatSync(`${root}node_modules`, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

if (!isInstalled() && isLinked()) {
  console.error(
    'Expected node_modules to contain the packages of the lock file, found a link to a folder without some of them',
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
