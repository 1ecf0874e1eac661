import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SETTINGS, startProgram } from '../../support/program.ts';

for (const [name, path, found] of [
  ['a file', '/etc/passwd', /which cannot be used \(a part of the path is a file\)/],
  ['a folder in a file', '/etc/passwd/state', /which cannot be used \(a part of the path is a file\)/],
  [
    'a folder on a file system without files',
    '/proc/1/state',
    /its parent folder does not exist|permission denied/,
  ],
] as const)
  test(`state.path that is ${name} is one clear error at the start`, async () => {
    await using program = startProgram([], { ...SETTINGS, XVS_STATE_PATH: path });
    assert.equal(await program.exitCode, 2);
    const [start, error = '', ...others] = program.stderr.trimEnd().split('\n');
    assert.match(String(start), /Starting/);
    assert.match(
      error,
      /"level":"error".*state\.path: expected a folder that this process can .*Startup failed/,
    );
    assert.match(error, found);
    assert.match(error, /choose a folder on a local disk that the exporter's user owns/);
    assert.deepEqual(others, []);
  });
