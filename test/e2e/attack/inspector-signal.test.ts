import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';

test('SIGUSR1 does not open the inspector', { timeout: 600_000 }, async () => {
  await using exporter = startProgram(['--web.listen-address=127.0.0.1:0'], {
    XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
    XVS_SERVICE_CODES: 'A',
    XVS_SECRET: 'abc',
  });
  await exporter.waitForOutput(/"msg":"Listening"/);
  exporter.signal('SIGUSR1');
  exporter.signal('SIGHUP');
  // Node.js opens the inspector immediately after the signal, long before a reload ends.
  await exporter.waitForOutput(/"msg":"Configuration reloaded"/);
  assert.doesNotMatch(exporter.stderr, /Debugger listening/);
});
