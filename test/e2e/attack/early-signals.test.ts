import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { Program, PROGRAM_PATH, SETTINGS, startProgram } from '../../support/program.ts';

/** Makes the program get a signal before it imports its modules, where it sets a variable. */
function sendSignal(signal: NodeJS.Signals): Readonly<Record<string, string>> {
  const script = `process.env = new Proxy(process.env, {
    set(variables, name, value) {
      variables[name] = value;
      if (name === 'UV_THREADPOOL_SIZE') process.kill(process.pid, '${signal}');
      return true;
    },
  });`;
  const options = `--import=data:text/javascript,${encodeURIComponent(script)}`;
  return { ...SETTINGS, NODE_OPTIONS: options };
}

function startWithSignal(signal: NodeJS.Signals, args: readonly string[]): Program {
  return startProgram(args, sendSignal(signal));
}

test('SIGHUP before the start causes a reload after it', async () => {
  await using exporter = startWithSignal('SIGHUP', []);
  await exporter.waitForOutput(/"trigger":"signal",.*"msg":"Configuration reloaded"/);
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exitCode, 0);
});

for (const command of ['once', 'healthcheck'])
  test(`SIGHUP before the start ends ${command}`, async () => {
    await using program = startWithSignal('SIGHUP', [command]);
    assert.equal(await program.exitCode, null);
  });

test('SIGUSR1 never opens the inspector', async () => {
  await using exporter = startWithSignal('SIGUSR1', []);
  await exporter.waitForPort();
  exporter.signal('SIGUSR1');
  exporter.signal('SIGHUP');
  // Node.js opens the inspector immediately after the signal, long before a reload ends.
  await exporter.waitForOutput(/"msg":"Configuration reloaded"/);
  assert.doesNotMatch(exporter.stderr, /Debugger listening/);
});

for (const signal of ['SIGTERM', 'SIGINT'] as const)
  for (const command of ['serve', 'once'])
    test(`${signal} before the start ends ${command} as process 1`, async (t) => {
      if (!isInstalled(t, 'unshare')) return;
      const namespace = ['--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
      await using program = new Program(
        'unshare',
        [...namespace, process.execPath, PROGRAM_PATH, command],
        sendSignal(signal),
      );
      assert.equal(await program.exitCode, 0, program.stderr);
    });

test('SIGTERM before the start kills a process that is not process 1', async () => {
  await using program = startWithSignal('SIGTERM', []);
  assert.equal(await program.exitCode, null);
});
