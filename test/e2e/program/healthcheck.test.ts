import assert from 'node:assert/strict';
import { relative } from 'node:path';
import { test } from 'node:test';
import { isInstalled } from '../../support/installed-programs.ts';
import { isLinux } from '../../support/linux.ts';
import { Program, PROGRAM_PATH, SETTINGS, startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

test('without flags, healthcheck uses the address of the environment, whatever other exporters run', async () => {
  await using other = startProgram([], SETTINGS);
  await using exporter = startProgram([], SETTINGS);
  await other.waitForPort();
  const address = `127.0.0.1:${await exporter.waitForPort()}`;
  await using health = startProgram(['healthcheck'], { XVS_WEB_LISTEN_ADDRESS: address });
  assert.equal(await health.exitCode, 0, health.stderr);
});

test('healthcheck asks an address with a zone', async (t) => {
  if (!isLinux(t, '127.0.0.2')) return;
  await using exporter = startProgram([], { ...SETTINGS, XVS_WEB_LISTEN_ADDRESS: '[::1%lo]:0' });
  const address = `[::1%lo]:${await exporter.waitForPort()}`;
  await using health = startProgram(['healthcheck'], { XVS_WEB_LISTEN_ADDRESS: address });
  assert.equal(await health.exitCode, 0, health.stderr);
});

/**
 * Starts a command as an init does, which has it in its own command line, and checks it until it is healthy.
 */
const INIT = `cd "$0"
"$@" &
until "$1" "$2" healthcheck; do kill -0 $! || exit 9; done
kill $!`;

test('in a container, healthcheck uses the flags of process 1, whose path may be relative', async (t) => {
  if (!isInstalled(t, 'unshare')) return;
  using folder = new TemporaryFolder();
  folder.replace('serve', '{}');
  const flags = [`--web.listen-address=unix:${folder.at('exporter socket')}`, '--config.file', 'serve'];
  const container = ['--map-root-user', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const program = relative(folder.path, PROGRAM_PATH);
  const command = [process.execPath, program, 'serve', ...flags];
  await using init = new Program(
    'unshare',
    [...container, 'sh', '-c', INIT, folder.path, ...command],
    SETTINGS,
  );
  assert.equal(await init.exitCode, 0, init.stderr);
});
