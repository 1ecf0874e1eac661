import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Program } from '../support/program.ts';
import { repositoryPath } from '../support/repository.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';

/**
 * A test that hangs, beside a program in a process group of its own, which keeps the output of the file open.
 */
const HANGING = `
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
const program = spawn('sleep', ['3600'], { detached: true, stdio: ['ignore', 'inherit', 'ignore'] });
writeFileSync(process.env.PID_FILE, String(program.pid));
test('hangs', () => new Promise((resolve) => setTimeout(resolve, 3_600_000)));
`;

/** Runs a test file whose time is over as soon as it has started its program. */
const RUNNER = `
import { existsSync } from 'node:fs';
import { run } from 'node:test';
import { watchTestFiles } from '${repositoryPath('scripts/watch-test-files.mjs')}';
const startTimer = (end) => {
  const timer = setInterval(() => {
    if (!existsSync(process.env.PID_FILE)) return;
    clearInterval(timer);
    end();
  }, 10);
};
watchTestFiles({ count: 1, limitMs: 60_000, formatName: () => 'hanging.test.js', startTimer });
run({ files: [process.env.TEST_FILE] }).on('test:fail', () => (process.exitCode = 1)).resume();
`;

test('a test file that hangs is killed with the programs that it started', async () => {
  using folder = new TemporaryFolder();
  const pidFile = folder.at('pid');
  writeFileSync(folder.at('hanging.test.mjs'), HANGING);
  writeFileSync(folder.at('runner.mjs'), RUNNER);
  await using runner = new Program(process.execPath, [folder.at('runner.mjs')], {
    PID_FILE: pidFile,
    TEST_FILE: folder.at('hanging.test.mjs'),
  });
  // The runner ends once nothing can write to the output of the file.
  assert.equal(await runner.exitCode, 1, runner.stderr);
});
