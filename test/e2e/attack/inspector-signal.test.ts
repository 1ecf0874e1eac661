import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SETTINGS, startProgram } from '../../support/program.ts';

test('SIGUSR1 does not open the inspector', { timeout: 600_000 }, async () => {
  await using exporter = startProgram([], SETTINGS);
  await exporter.waitForOutput(/"msg":"Listening"/);
  exporter.signal('SIGUSR1');
  exporter.signal('SIGHUP');
  // Node.js opens the inspector immediately after the signal, long before a reload ends.
  await exporter.waitForOutput(/"msg":"Configuration reloaded"/);
  assert.doesNotMatch(exporter.stderr, /Debugger listening/);
});
