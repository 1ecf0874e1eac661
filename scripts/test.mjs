// Runs the compiled tests with node's own runner: all of them, or those whose path contains one of the
// arguments. Node 20 knows no globs for `--test`, so the files are found here.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const wanted = process.argv.slice(2);
const files = readdirSync(join(root, 'build/test'), { recursive: true })
  .filter((file) => file.endsWith('.test.js'))
  .filter((file) => wanted.length === 0 || wanted.some((part) => file.includes(part)))
  .toSorted()
  .map((file) => join('build/test', file));

if (files.length === 0) {
  console.error(`Expected at least one test file, found none in build/test for [${wanted.join(', ')}]`);
  process.exitCode = 1;
} else {
  const args = ['--enable-source-maps', '--test', '--test-reporter=spec', ...files];
  process.exitCode = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status ?? 1;
}
