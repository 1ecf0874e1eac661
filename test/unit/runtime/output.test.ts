import assert from 'node:assert/strict';
import { Writable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LogOutput } from '../../../src/runtime/output.ts';

test('lines to a pipe without a reader are dropped and counted, and its error does not end the process', async () => {
  const pipe = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
  const output = new LogOutput(pipe);
  output.write('one\n');
  output.write('two\n');
  await nextTurn();
  assert.equal(output.droppedLines, 2);
});

test('beyond 1 MiB of lines that a slow reader has not read, further lines are dropped', async () => {
  const stalled = new Writable({ write: () => undefined });
  const output = new LogOutput(stalled);
  const line = `${'x'.repeat(1023)}\n`;
  for (let count = 0; count < 2000; count += 1) output.write(line);
  assert.equal(output.droppedLines, 2000 - 1025);
  assert.ok(stalled.writableLength <= 1025 * 1024);
});
