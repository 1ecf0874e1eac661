// Checks that a tag can be released, and prints what is missing. With `--notes`, prints the changes of the
// version.
//
//   node scripts/check-release.mjs --tag=v1.2.3 [--notes] [--root=FOLDER]
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    tag: { type: 'string', default: '' },
    notes: { type: 'boolean', default: false },
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) },
  },
});
const read = (file) => readFileSync(join(options.root, file), 'utf8');
const runScript = (name, ...args) =>
  spawnSync(process.execPath, [fileURLToPath(new URL(name, import.meta.url)), ...args], { encoding: 'utf8' });

const { version } = JSON.parse(read('package.json'));
const project = read('project.json');
const section = read('CHANGELOG.md')
  .split(/^## /m)
  .find((part) => part.startsWith(`[${version}] - `));

const problems = [];
if (options.tag !== `v${version}`) {
  problems.push(`Expected the tag v${version} (package.json), found ${options.tag || 'none'}`);
}
if (section === undefined) problems.push(`Expected "## [${version}] - DATE" in CHANGELOG.md, found none`);
if (/\bexample\.com\b/.test(project)) {
  problems.push('Expected the addresses of the project in project.json, found example.com; set them');
}
const derived = runScript('apply-project.mjs', '--check', `--root=${options.root}`);
if (derived.status !== 0) problems.push(`${derived.stdout}${derived.stderr}`.trim());
const pinned = runScript('pin-images.mjs', '--check', `--root=${options.root}`);
if (pinned.status !== 0) problems.push(pinned.stderr.trim());

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;
else if (options.notes) console.log(section.slice(section.indexOf('\n')).trim());
