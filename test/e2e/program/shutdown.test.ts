import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { SETTINGS, startProgram, type Program } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitForValue } from '../../support/wait-until.ts';
import { startPausableService } from './pausable-service.ts';

function startExporter(
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  return startProgram(['--poll.interval=1s', ...args], { ...SETTINGS, XVS_UPSTREAM_BASE_URL: url, ...env });
}

/** Opens a connection and sends an incomplete scrape request; `received` returns the response so far. */
async function startScrape(port: number): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let text = '';
  socket.on('data', (piece) => {
    text += String(piece);
  });
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n', resolve));
  return { socket, received: () => text };
}

/** Resolves when the server has read everything that was sent before on other connections. */
async function waitUntilRead(port: number): Promise<void> {
  await (await fetch(`http://127.0.0.1:${port}/-/healthy`)).text();
}

test('on SIGTERM the poll in progress is aborted, the scrape in progress is answered, and the exit code is 0', async (t) => {
  const service = await startPausableService(t);
  await using exporter = startExporter(service.url, ['--upstream.timeout=1h']);
  const port = await exporter.waitForPort();
  await exporter.waitForOutput(/Poll succeeded/);
  service.state.isPaused = true;
  await waitForValue(service.countHeld, 1);
  const { socket, received } = await startScrape(port);
  await waitUntilRead(port);
  exporter.signal('SIGTERM');
  await exporter.waitForOutput(/"msg":"Shutting down"/);
  socket.write('\r\n');
  await once(socket, 'close');
  assert.match(received(), /^HTTP\/1\.1 200 OK\r\n/);
  assert.match(received(), /\r\nConnection: close\r\n/);
  assert.match(received(), /\nxvs_up\{service_code="TESTING"\} 1\n/);
  assert.equal(await exporter.exitCode, 0);
  assert.doesNotMatch(exporter.stderr, /"level":"(?:error|fatal)"/);
});

test('a client that never completes its request delays the shutdown by a few seconds, and the exit code is 0', async () => {
  await using exporter = startExporter('http://127.0.0.1:1', []);
  const port = await exporter.waitForPort();
  const { socket, received } = await startScrape(port);
  await waitUntilRead(port);
  const signalledMs = performance.now();
  exporter.signal('SIGTERM');
  await once(socket, 'close');
  assert.equal(await exporter.exitCode, 0);
  assert.ok(performance.now() - signalledMs > 4000);
  assert.equal(received(), '');
});

/** Makes Node.js run a script before the program, which injects a fault on SIGUSR2. */
function createPreload(fault: string): Readonly<Record<string, string>> {
  const script = `import crypto from 'node:crypto';
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    process.on('SIGUSR2', () => { ${fault} });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

const FATAL_ERRORS: readonly [string, string][] = [
  ['an exception', "throw new Error('injected')"],
  ['an unhandled rejection', "void Promise.reject(new Error('injected'))"],
  [
    'a poll loop that rejects',
    "crypto.createHmac = () => { throw new Error('injected'); }; syncBuiltinESMExports()",
  ],
];

for (const [name, fault] of FATAL_ERRORS) {
  test(`${name} is logged in one fatal line, and the exit code is 1`, async (t) => {
    const service = await startPausableService(t);
    await using exporter = startExporter(service.url, [], createPreload(fault));
    await exporter.waitForOutput(/Poll succeeded/);
    exporter.signal('SIGUSR2');
    assert.equal(await exporter.exitCode, 1);
    const lines = exporter.stderr.trimEnd().split('\n');
    const last: Record<string, unknown> = JSON.parse(lines.at(-1) ?? '');
    const { level, err, msg } = last;
    assert.deepEqual([level, msg], ['fatal', 'Unexpected error; exiting']);
    assert.match(
      JSON.stringify(err),
      /^\{"type":"Error","message":"injected","stack":"Error: injected\\n +at /,
    );
    assert.equal(lines.filter((line) => line.includes('"level":"fatal"')).length, 1);
    assert.equal(exporter.stdout, '');
  });
}

test('a shutdown that hangs times out, with exit code 1', async () => {
  using folder = new TemporaryFolder();
  // The database is never closed.
  const fault = `void import('${import.meta.resolve('classic-level')}').then(({ ClassicLevel }) => {
      ClassicLevel.prototype.close = () => new Promise(() => undefined);
      process.stdout.write('Injected');
    });`;
  const env = { ...createPreload(fault), XVS_STATE_PATH: folder.at('state') };
  await using exporter = startExporter('http://127.0.0.1:1', [], env);
  await exporter.waitForPort();
  exporter.signal('SIGUSR2');
  await exporter.waitForOutput(/Injected/);
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exitCode, 1);
  assert.match(exporter.stderr, /"level":"error".*"timeout_ms":8000,"msg":"Shutdown timed out"\}\n$/);
});

test('a command without log reports an unexpected error in plain text', async (t) => {
  const service = await startPausableService(t);
  service.state.isPaused = true;
  await using program = startProgram(['once', '--explain'], {
    ...SETTINGS,
    XVS_UPSTREAM_BASE_URL: service.url,
    ...createPreload("throw new Error('injected')"),
  });
  await waitForValue(service.countHeld, 1);
  program.signal('SIGUSR2');
  assert.equal(await program.exitCode, 1);
  assert.match(program.stderr, /^xvs-exporter: Error: injected\n +at /);
});
