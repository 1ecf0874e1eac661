import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { parseExposition } from '../../support/exposition-parser.ts';
import { readFixture, readIdentity } from '../../support/fixtures.ts';
import { Program, PROGRAM_PATH, SETTINGS, startProgram } from '../../support/program.ts';
import { serveHttps } from '../../support/servers.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';

const manifest: unknown = JSON.parse(readFixture('../../package.json').toString());

/** The settings of an exporter that polls a simulator. */
const createSettings = (simulatorUrl: string, secret = 'abc'): Record<string, string> => ({
  ...SETTINGS,
  XVS_UPSTREAM_BASE_URL: simulatorUrl,
  XVS_SECRET: secret,
});

const startSimulator = (...args: string[]): Program =>
  startSimulatorProgram('--users=20', '--tasks=5', ...args);

test('--version prints the version of the package and the revision of the environment', async () => {
  await using program = startProgram(['--version'], { XVS_EXPORTER_REVISION: 'abc123' });
  assert.equal(await program.exitCode, 0);
  assert.ok(typeof manifest === 'object' && manifest !== null && 'version' in manifest);
  assert.match(
    program.stdout,
    new RegExp(`^xvs-exporter ${String(manifest.version)} \\(abc123, Node\\.js v\\d+`),
  );
});

test('--help lists all flags', async () => {
  await using program = startProgram(['--help']);
  assert.equal(await program.exitCode, 0);
  assert.match(program.stdout, /--web\.listen-address=<.*default :20928.*--explain/s);
});

test('--config.check prints a summary of the configuration without secrets', async () => {
  await using program = startProgram(
    ['--config.check'],
    createSettings('http://127.0.0.1:1', 'hidden-secret'),
  );
  assert.equal(await program.exitCode, 0);
  assert.match(program.stdout, /TESTING\s+http:\/\/127\.0\.0\.1:1\s+15s .*<secret of 13 bytes>/);
  assert.doesNotMatch(program.stdout + program.stderr, /hidden-secret/);
});

test('once prints the exposition of one poll and exits with 0, or with 1 if the poll failed', async () => {
  await using service = startSimulator();
  await using good = startProgram(['once'], createSettings(await service.waitForUrl()));
  assert.equal(await good.exitCode, 0);
  const { families } = parseExposition(good.stdout, 'text');
  assert.equal(families.get('xvs_up')?.samples[0]?.value, 1);

  await using bad = startProgram(['once'], createSettings(await service.waitForUrl(), 'wrong'));
  assert.equal(await bad.exitCode, 1);
  assert.match(bad.stdout, /^xvs_up\{service_code="TESTING"\} 0$/m);
  assert.match(bad.stdout, /^xvs_ret\{service_code="TESTING"\} 1005$/m);
});

const UNVERIFIED = { NODE_TLS_REJECT_UNAUTHORIZED: '0' };

test('without verification of certificates, log lines say so, those of Node.js too', async (t) => {
  const listing = JSON.stringify({ ret: 0, user_list: [], task_list: [] });
  const url = await serveHttps(t, readIdentity('self-signed'), (_request, response) => response.end(listing));
  await using serve = startProgram([], { ...SETTINGS, XVS_UPSTREAM_BASE_URL: url, ...UNVERIFIED });
  await serve.waitForOutput(/(Poll succeeded)/);
  serve.signal('SIGTERM');
  assert.equal(await serve.exitCode, 0);
  await using once = startProgram(['once'], { ...createSettings(url), ...UNVERIFIED });
  assert.equal(await once.exitCode, 0);
  const warning = /NODE_TLS_REJECT_UNAUTHORIZED: expected no value, found 0, with which any certificate/;
  const [onceWarning = '', ...onceLines] = once.stderr.trimEnd().split('\n');
  assert.match(onceWarning, warning);
  for (const lines of [serve.stderr.trimEnd().split('\n'), onceLines]) {
    const entries = lines.map((line) => z.object({ msg: z.string() }).parse(JSON.parse(line)));
    assert.ok(entries.some(({ msg }) => msg === 'Node.js warned'));
  }
  assert.match(serve.stderr, warning);
  await using explain = startProgram(['once', '--explain'], { ...createSettings(url), ...UNVERIFIED });
  assert.equal(await explain.exitCode, 0);
  assert.match(
    explain.stdout,
    /TLSv1\.3, certificate not verified \(DEPTH_ZERO_SELF_SIGNED_CERT\), certificate/,
  );
});

/** The capacity of a pipe on Linux: the first write beyond it is asynchronous. */
const PIPE_BYTES = 65_536;

/** Runs the program with its stdout in a pipe that `cat` reads. */
function startInPipe(args: readonly string[], env: Readonly<Record<string, string>>): Program {
  const command = [process.execPath, PROGRAM_PATH, ...args].map((word) => `'${word}'`).join(' ');
  return new Program('sh', ['-c', `{ ${command}; echo "exit code $?" >&2; } | cat`], env);
}

test('the exposition of once is written to a pipe completely', async () => {
  await using service = startSimulatorProgram('--users=10', '--tasks=500');
  const settings = { ...createSettings(await service.waitForUrl()), XVS_METRICS_PER_TASK: 'true' };
  await using program = startInPipe(['once'], settings);
  await program.exitCode;
  assert.ok(program.stdout.length > 2 * PIPE_BYTES);
  assert.match(program.stderr, /exit code 0/);
  const { families } = parseExposition(program.stdout, 'text');
  const series = [...families.values()].reduce((sum, { samples }) => sum + samples.length, 0);
  assert.equal(families.get('xvs_exporter_series')?.samples[0]?.value, series);
});

test('output whose reader has closed the pipe does not change the exit code', async () => {
  const codes = Array.from({ length: 2000 }, (_, number) => `code-${number}`);
  const settings = { ...createSettings('http://127.0.0.1:1'), XVS_SERVICE_CODES: codes.join(',') };
  const command = `{ '${process.execPath}' '${PROGRAM_PATH}' --config.check; echo "exit code $?" >&2; } | head -c 1`;
  await using program = new Program('sh', ['-c', command], settings);
  await program.exitCode;
  assert.equal(program.stderr, 'exit code 0\n');
});

test('an address in use is logged in one line that names the setting, with exit code 1', async () => {
  await using service = startSimulator();
  const taken = new URL(await service.waitForUrl()).host;
  await using exporter = startProgram(
    [`--web.listen-address=${taken}`],
    createSettings('http://127.0.0.1:1'),
  );
  assert.equal(await exporter.exitCode, 1);
  assert.match(
    exporter.stderr,
    /"err":\{"message":"web\.listen_address: expected .* which another process uses \(EADDRINUSE\); set web\.listen_address .*"\},"msg":"Startup failed"/,
  );
});

test('the memory limit is read at each scrape; what is no limit has no series', async () => {
  const limits = [512 * 1024 ** 2, 256 * 1024 ** 2, 2 ** 64, 0];
  const script = `const limits = ${JSON.stringify(limits)}; process.constrainedMemory = () => limits.shift();`;
  await using exporter = startProgram([], {
    ...SETTINGS,
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  });
  const url = `http://127.0.0.1:${await exporter.waitForPort()}/metrics`;
  const exposed: unknown[] = [];
  for (const _ of limits) {
    const { families } = parseExposition(await (await fetch(url)).text(), 'text');
    exposed.push(families.get('xvs_exporter_memory_limit_bytes')?.samples[0]?.value);
  }
  assert.deepEqual(exposed, [512 * 1024 ** 2, 256 * 1024 ** 2, undefined, undefined]);
});
