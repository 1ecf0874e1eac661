import assert from 'node:assert/strict';
import { statSync } from 'node:fs';
import { test } from 'node:test';
import { isLinux } from '../../support/linux.ts';
import { Program, PROGRAM_PATH, SETTINGS } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const COMMANDS = ['--help', '--config.check', 'once', 'once --explain', 'healthcheck --help'];

function startInShell(script: string, command: string): Program {
  const program = `"${process.execPath}" "${PROGRAM_PATH}" ${command}`;
  return new Program('bash', ['-c', script.replace('PROGRAM', program)], SETTINGS);
}

/** A limit on the size of files fails in the middle of a write, as a disk that gets full. */
for (const command of COMMANDS) {
  test(`${command} exits with 1 and one sentence if a file takes only a part of its output`, async () => {
    using folder = new TemporaryFolder();
    const file = folder.at('output');
    // Any output is longer than the rest.
    const script = `head -c 900 /dev/zero >"${file}"; ulimit -f 1; PROGRAM >>"${file}"`;
    await using program = startInShell(script, command);
    assert.equal(await program.exitCode, 1);
    const [last] = program.stderr.trimEnd().split('\n').toReversed();
    assert.equal(last, 'xvs-exporter: Writing to standard output failed: EFBIG: file too large, write');
    assert.equal(statSync(file).size, 1024);
  });
}

test('a device that takes nothing is an error', async (t) => {
  if (!isLinux(t, '/dev/full')) return;
  await using program = startInShell('PROGRAM >/dev/full', '--version');
  assert.equal(await program.exitCode, 1);
  assert.match(program.stderr, /^xvs-exporter: Writing to standard output failed: ENOSPC/);
});
