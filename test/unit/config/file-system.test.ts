import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { describeReadError, LOCAL_FILE_SYSTEM } from '../../../src/config/file-system.ts';
import { isLinux } from '../../support/linux.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

for (const [what, make, found] of [
  ['a FIFO', (path: string) => execFileSync('mkfifo', [path]), 'which is not a regular file'],
  [
    'larger than 4 MiB',
    (path: string) => writeFileSync(path, Buffer.alloc(5 * 1024 * 1024)),
    'which is larger than 4 MiB',
  ],
  // About 256 GiB, whose size is said to be 0, and of which no single byte can be read.
  ['without an end', (path: string) => symlinkSync('/proc/self/pagemap', path), 'which cannot be read'],
] as const)
  test(`a file that is ${what} is not read`, async (t) => {
    if (what === 'without an end' && !isLinux(t, '/proc')) return;
    using folder = new TemporaryFolder();
    const path = folder.at('codes.yml');
    make(path);
    await assert.rejects(LOCAL_FILE_SYSTEM.readFile(path), (error) => {
      assert.equal(describeReadError(path, error), `${path}, ${found}`);
      return true;
    });
  });
