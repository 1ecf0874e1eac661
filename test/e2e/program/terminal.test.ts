import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { Program, PROGRAM_PATH } from '../../support/program.ts';

const ESCAPE = '\u001b';
const SETTINGS = {
  XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
  XVS_SERVICE_CODES: 'TESTING',
  XVS_SECRET: 'abc',
};

/** Runs the program at a pseudo-terminal, with `script` of util-linux. Its whole output arrives on stdout. */
function startAtTerminal(args: readonly string[], env: Readonly<Record<string, string>>): Program {
  const command = [process.execPath, PROGRAM_PATH, ...args].join(' ');
  return new Program('script', ['--quiet', '--return', '--command', command, '/dev/null'], {
    TERM: 'xterm-256color',
    ...env,
  });
}

test('NO_COLOR disables colors', async (t) => {
  if (!isInstalled(t, 'script')) return;
  await using program = startAtTerminal(['once'], { ...SETTINGS, NO_COLOR: '1' });
  assert.equal(await program.exitCode, 1);
  assert.match(
    program.stdout,
    /^\d\d:\d\d:\d\d\.\d{3} WARN {2}Poll failed service_code=TESTING reason=connect /,
  );
});

test('at a terminal, log lines are for people and in color', async (t) => {
  if (!isInstalled(t, 'script')) return;
  await using program = startAtTerminal(['once'], SETTINGS);
  assert.equal(await program.exitCode, 1);
  assert.match(
    program.stdout.replaceAll(ESCAPE, '␛'),
    /^␛\[90m\d\d:\d\d:\d\d\.\d{3}␛\[0m ␛\[33mWARN .*Poll failed/,
  );
});
