import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SETTINGS, startProgram, type Program } from '../../support/program.ts';

/** Starts the program with a signal that it gets before it imports its modules, where it sets a variable. */
function startWithSignal(signal: NodeJS.Signals, args: readonly string[]): Program {
  const script = `process.env = new Proxy(process.env, {
    set(variables, name, value) {
      variables[name] = value;
      if (name === 'UV_THREADPOOL_SIZE') process.kill(process.pid, '${signal}');
      return true;
    },
  });`;
  const options = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  return startProgram(args, { ...SETTINGS, NODE_OPTIONS: options });
}

test('SIGHUP before the start causes a reload after it', { timeout: 600_000 }, async () => {
  await using exporter = startWithSignal('SIGHUP', []);
  await exporter.waitForOutput(/"trigger":"signal",.*"msg":"Configuration reloaded"/);
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exitCode, 0);
});

for (const command of ['once', 'healthcheck'])
  test(`SIGHUP before the start ends ${command}`, { timeout: 600_000 }, async () => {
    await using program = startWithSignal('SIGHUP', [command]);
    assert.equal(await program.exitCode, null);
  });

test('SIGUSR1 never opens the inspector', { timeout: 600_000 }, async () => {
  await using exporter = startWithSignal('SIGUSR1', []);
  await exporter.waitForPort();
  exporter.signal('SIGUSR1');
  exporter.signal('SIGHUP');
  // Node.js opens the inspector immediately after the signal, long before a reload ends.
  await exporter.waitForOutput(/"msg":"Configuration reloaded"/);
  assert.doesNotMatch(exporter.stderr, /Debugger listening/);
});
