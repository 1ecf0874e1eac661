import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { Program, PROGRAM_PATH, startProgram } from '../../support/program.ts';
import { setFault, startSimulatorProgram } from '../../support/simulator-program.ts';

const ESCAPE = '\u001b';

/** Runs the program at a pseudo-terminal, with `script` of util-linux. Its whole output arrives on stdout. */
function startAtTerminal(args: readonly string[], env: Readonly<Record<string, string>>): Program {
  const command = [process.execPath, PROGRAM_PATH, ...args].join(' ');
  return new Program('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    TERM: 'xterm-256color',
    ...env,
  });
}

/** Starts a service that stops in the middle of its listing. */
async function startStalledService(t: TestContext): Promise<Record<string, string>> {
  const service = startSimulatorProgram('--users=3000');
  t.after(() => service[Symbol.asyncDispose]());
  const url = await service.waitForUrl();
  await setFault(url, { fault: 'silence_body' });
  return { XVS_UPSTREAM_BASE_URL: url, XVS_SERVICE_CODES: 'TESTING', XVS_SECRET: 'abc' };
}

/** The time for the part of the listing before the stall, on a busy machine. */
const SLOW_ARGS = ['once', '--upstream.timeout=5s'];

test('at a terminal, once shows its progress and erases it before other output', async (t) => {
  if (!isInstalled(t, 'script')) return;
  await using program = startAtTerminal(SLOW_ARGS, await startStalledService(t));
  assert.equal(await program.exitCode, 1);
  const parts = program.stdout.split(`\r${ESCAPE}[K`);
  const progress = parts.slice(1, -1).filter((text) => text !== '');
  assert.ok(progress.length >= 2, program.stdout);
  for (const text of progress) assert.match(text, /^Reading: 0\.\d MB received, \d+ users, \d+ tasks …$/);
  assert.match(progress.at(-1) ?? '', /, [1-9]\d* users, /);
  const rest = parts.at(-1) ?? '';
  assert.match(rest.replaceAll(ESCAPE, '␛'), /^␛\[90m\d\d:\d\d:\d\d\.\d{3}␛\[0m ␛\[33mWARN .*Poll failed/);
  assert.match(rest, /^xvs_up\{service_code="TESTING"\} 0\r$/m);
});

test('NO_COLOR disables colors', async (t) => {
  if (!isInstalled(t, 'script')) return;
  await using program = startAtTerminal(['once'], {
    XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
    XVS_SERVICE_CODES: 'TESTING',
    XVS_SECRET: 'abc',
    NO_COLOR: '1',
  });
  assert.equal(await program.exitCode, 1);
  assert.match(
    program.stdout,
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}Poll failed service_code=TESTING reason=connect /,
  );
});

test('in a pipe, once logs JSON and shows no progress', async (t) => {
  await using program = startProgram(SLOW_ARGS, await startStalledService(t));
  assert.equal(await program.exitCode, 1);
  assert.match(program.stderr, /^\{"level":"warn",.*"msg":"Poll failed"\}\n$/);
});
