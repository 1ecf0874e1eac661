import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { xvsExporter, type Program } from '../support/program.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const SIMULATE = ['simulate', '--listen-address=127.0.0.1:0', '--users=5', '--tasks=2', '--control'];

function exporterOf(
  url: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Program {
  return xvsExporter(['--web.listen-address=127.0.0.1:0', '--poll.interval=1s', ...args], {
    XVS_UPSTREAM_BASE_URL: url,
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
    ...env,
  });
}

const portOf = async (program: Program): Promise<number> =>
  Number(await program.printed(/"port":(\d+),"msg":"Listening"/));

/** A connection that has sent the beginning of a scrape; it keeps what is answered. */
async function beginScrape(port: number): Promise<{ socket: Socket; received: () => string }> {
  const socket = connect(port, '127.0.0.1').setEncoding('latin1');
  let text = '';
  socket.on('data', (piece) => {
    text += String(piece);
  });
  await once(socket, 'connect');
  await new Promise((resolve) => socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n', resolve));
  return { socket, received: () => text };
}

/** Resolves once the server has read what was sent before on another connection. */
async function untilRead(port: number): Promise<void> {
  await (await fetch(`http://127.0.0.1:${port}/-/healthy`)).text();
}

/** How many polls were begun. */
async function polls(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^xvs_exporter_polls_total\{.*\} (\d+)$/m.exec(text)?.[1]);
}

for (const name of ['SIGTERM', 'SIGINT'] as const) {
  test(`on ${name} the poll under way is aborted, the scrape in flight is answered, and it ends with 0`, async () => {
    await using service = xvsExporter(SIMULATE);
    const url = await service.printed(/ on (http:\S+)/);
    await using exporter = exporterOf(url, ['--upstream.timeout=60s', '--upstream.headers-timeout=60s']);
    const port = await portOf(exporter);
    await exporter.printed(/Poll succeeded/);
    await fetch(`${url}/-/faults`, { method: 'PUT', body: '{"fault":"silence"}' });
    const before = await polls(port);
    // This one gets no answer, for a minute.
    await until(
      () => polls(port),
      (begun) => begun > before,
    );
    const { socket, received } = await beginScrape(port);
    await untilRead(port);
    const askedMs = performance.now();
    exporter.signal(name);
    await exporter.printed(/"msg":"Stopping"/);
    socket.write('\r\n');
    await once(socket, 'close');
    assert.match(received(), /^HTTP\/1\.1 200 OK\r\n/);
    assert.match(received(), /\r\nConnection: close\r\n/);
    assert.match(received(), /\nxvs_up\{service_code="TESTING"\} 1\n/);
    assert.equal(await exporter.exit, 0);
    assert.ok(performance.now() - askedMs < 4000);
    assert.doesNotMatch(exporter.stderr, /"level":"(?:error|fatal)"/);
  });
}

test('a client that never ends its request is given a few seconds, and it ends with 0 all the same', async () => {
  await using exporter = exporterOf('http://127.0.0.1:1', []);
  const port = await portOf(exporter);
  const { socket, received } = await beginScrape(port);
  await untilRead(port);
  const askedMs = performance.now();
  exporter.signal('SIGTERM');
  await once(socket, 'close');
  assert.equal(await exporter.exit, 0);
  const tookMs = performance.now() - askedMs;
  assert.ok(tookMs > 4000 && tookMs < 9000, `${tookMs} ms`);
  assert.equal(received(), '');
});

test('a second signal ends it at once', async () => {
  await using exporter = exporterOf('http://127.0.0.1:1', []);
  const port = await portOf(exporter);
  const { socket } = await beginScrape(port);
  await untilRead(port);
  const askedMs = performance.now();
  exporter.signal('SIGTERM');
  await exporter.printed(/"msg":"Stopping"/);
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exit, null);
  assert.ok(performance.now() - askedMs < 4000);
  socket.destroy();
});

/** Makes Node run something before the program: what does harm to it, once it is told to by a signal. */
function preload(harm: string): Readonly<Record<string, string>> {
  const script = `import crypto from 'node:crypto';
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    process.on('SIGUSR2', () => { ${harm} });`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` };
}

/** What is thrown, where nobody expects it. */
const HARMS: readonly [string, string][] = [
  ['an exception', "throw new Error('injected')"],
  ['a rejection that nobody heeds', "void Promise.reject(new Error('injected'))"],
  ['an exception in a timer', "setTimeout(() => { throw new Error('injected'); }, 1)"],
  [
    'a poll loop that rejects',
    "crypto.createHmac = () => { throw new Error('injected'); }; syncBuiltinESMExports()",
  ],
];

for (const [name, harm] of HARMS) {
  test(`${name} is one fatal line of the log, and the end with 1`, async () => {
    await using service = xvsExporter(SIMULATE);
    const url = await service.printed(/ on (http:\S+)/);
    await using exporter = exporterOf(url, [], preload(harm));
    await exporter.printed(/Poll succeeded/);
    exporter.signal('SIGUSR2');
    assert.equal(await exporter.exit, 1);
    const lines = exporter.stderr.trimEnd().split('\n');
    const last: Record<string, unknown> = JSON.parse(lines.at(-1) ?? '');
    const { level, error, stack, msg } = last;
    assert.deepEqual([level, error, msg], ['fatal', 'injected', 'Ending: unexpected error']);
    assert.match(String(stack), /^Error: injected\n +at /);
    assert.equal(lines.filter((line) => line.includes('"level":"fatal"')).length, 1);
    assert.equal(exporter.stdout, '');
  });
}

test('what never ends holds up the end for some seconds, not for ever', async () => {
  using folder = new TemporaryFolder();
  folder.replace('secret', 'abc');
  const harm = `fs.promises.readFile = () => { process.stdout.write('Reading'); return new Promise(() => undefined); };
    syncBuiltinESMExports();
    process.stdout.write('Harmed');`;
  const env = { ...preload(harm), XVS_SECRET: '', XVS_SECRET_FILE: folder.at('secret') };
  await using exporter = exporterOf('http://127.0.0.1:1', [], env);
  await portOf(exporter);
  exporter.signal('SIGUSR2');
  await exporter.printed(/Harmed/);
  exporter.signal('SIGHUP');
  await exporter.printed(/Reading/);
  exporter.signal('SIGTERM');
  assert.equal(await exporter.exit, 1);
  assert.match(
    exporter.stderr,
    /"level":"error".*"msg":"Ending, though not everything has come to its end"\}\n$/,
  );
});

test('a fatal line is logfmt where that is set', async () => {
  const env = preload("throw new Error('injected')");
  await using exporter = exporterOf('http://127.0.0.1:1', ['--log.format=logfmt'], env);
  await exporter.printed(/msg=Listening/);
  exporter.signal('SIGUSR2');
  assert.equal(await exporter.exit, 1);
  assert.match(
    exporter.stderr,
    /\ntime=\S+ level=fatal msg="Ending: unexpected error" error=injected stack="Error: injected\\n[^\n]*"\n$/,
  );
});

test('a command that has no log says what ended it in plain text', async () => {
  await using simulator = xvsExporter(SIMULATE, preload("throw new Error('injected')"));
  await simulator.printed(/ on (http:\S+)/);
  simulator.signal('SIGUSR2');
  assert.equal(await simulator.exit, 1);
  assert.match(simulator.stderr, /^xvs-exporter: Error: injected\n +at /);
});
