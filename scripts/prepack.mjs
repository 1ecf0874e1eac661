// Runs before `npm pack`: builds the program in an empty folder, so that the package contains no file of an
// older build, and without source maps, whose sources are not in the package. npm installs a package of a
// registry with the versions of its `npm-shrinkwrap.json`, here those of the lock file. In the package, links
// to files that only the repository has lead to its home, and `package.json` has the revision that Git knows.
//
//   node scripts/prepack.mjs          changes files for the package
//   node scripts/prepack.mjs --undo   restores them; removes npm-shrinkwrap.json, with which `npm ci` fails
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const at = (file) => `${root}${file}`;
const ORIGINALS = at('.cache/packed-originals.json');

// Also after a pack that was interrupted.
rmSync(at('npm-shrinkwrap.json'), { force: true });
if (existsSync(ORIGINALS)) {
  const originals = JSON.parse(readFileSync(ORIGINALS, 'utf8'));
  for (const [file, text] of Object.entries(originals)) writeFileSync(at(file), text);
  rmSync(ORIGINALS);
}
if (!process.argv.includes('--undo')) {
  run('run', '--silent', 'setup');
  rmSync(at('dist'), { recursive: true, force: true });
  run('run', '--silent', 'build', '--', '--sourceMap', 'false');
  copyFileSync(at('package-lock.json'), at('npm-shrinkwrap.json'));
  changeForPackage();
}

function changeForPackage() {
  const read = (file) => readFileSync(at(file), 'utf8');
  const [{ files }] = JSON.parse(run('pack', '--dry-run', '--json', '--ignore-scripts'));
  const packed = files.map(({ path }) => path);
  const isPacked = (path) => packed.some((file) => `${file}/`.startsWith(path.replace(/\/?$/, '/')));
  const { homepage } = JSON.parse(read('package.json'));
  const changed = {};
  for (const page of packed.filter((path) => path.endsWith('.md')))
    changed[page] = read(page).replaceAll(/(?<=\]\()(?!https?:|mailto:)[^)#\s]+/g, (target) => {
      const path = posix.join(posix.dirname(page), target);
      return isPacked(path) ? target : `${homepage}/${path}`;
    });
  const { status, stdout } = spawnSync('git', ['--git-dir=.git', 'rev-parse', 'HEAD'], { cwd: root });
  const revision = `"revision": "${String(stdout).trim()}",\n  `;
  if (status === 0) changed['package.json'] = read('package.json').replace('"runbook":', `${revision}$&`);
  const originals = Object.keys(changed).map((file) => [file, read(file)]);
  mkdirSync(at('.cache'), { recursive: true });
  writeFileSync(ORIGINALS, JSON.stringify(Object.fromEntries(originals)));
  for (const [file, text] of Object.entries(changed)) writeFileSync(at(file), text);
}

/** Returns what npm printed. `npm pack --json` prints JSON, so this script must not print there. */
function run(...args) {
  const shell = process.platform === 'win32';
  const stdio = ['ignore', 'pipe', 'inherit'];
  const { status, stdout } = spawnSync('npm', args, { cwd: root, stdio, shell, encoding: 'utf8' });
  process.stderr.write(args[0] === 'run' ? stdout : '');
  if (status !== 0) throw new Error(`Expected npm ${args.join(' ')} to succeed, found exit code ${status}`);
  return stdout;
}
