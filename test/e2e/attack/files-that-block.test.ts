import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

function makeFifo(path: string): void {
  execFileSync('mkfifo', [path]);
}

function makeHuge(path: string): void {
  writeFileSync(path, '');
  truncateSync(path, 5 * 1024 * 1024);
}

/** A file of about 256 GiB, whose size is said to be 0, and of which no single byte can be read. */
function makeEndless(path: string): void {
  symlinkSync('/proc/self/pagemap', path);
}

for (const [what, make, found] of [
  ['a FIFO', makeFifo, 'which is not a regular file'],
  ['larger than 4 MiB', makeHuge, 'which is larger than 4 MiB'],
  ['without an end', makeEndless, 'which cannot be read'],
] as const)
  test(`a file that is ${what} is rejected`, { timeout: 600_000 }, async () => {
    using folder = new TemporaryFolder();
    make(folder.at('codes.yml'));
    await using check = startProgram(['--config.check'], {
      ...SETTINGS,
      XVS_SERVICE_CODE_FILES: folder.at('codes.yml'),
      NODE_OPTIONS: '--max-old-space-size=128',
    });
    assert.equal(await check.exitCode, 2);
    assert.match(check.stderr, new RegExp(`expected a readable file.*, found .*${found}`));
  });
