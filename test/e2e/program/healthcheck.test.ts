import assert from 'node:assert/strict';
import { symlinkSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Program, PROGRAM_PATH, SETTINGS } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

/** Starts the program by a path of its own: other tests run exporters, too. */
function start(folder: TemporaryFolder, args: readonly string[], env = {}): Program {
  return new Program(process.execPath, [folder.at('main.js'), ...args], env);
}

for (const [what, createAddress] of [
  ['on an IPv6 address', () => '[::1]:0'],
  ['on all addresses', () => ':0'],
  ['on a Unix socket', (folder: TemporaryFolder) => `unix:${folder.at('exporter socket')}`],
] as const)
  test(`without flags, healthcheck finds an exporter ${what}, whatever the file says now`, async () => {
    using folder = new TemporaryFolder();
    symlinkSync(PROGRAM_PATH, folder.at('main.js'));
    const address = createAddress(folder);
    const text = `upstream: { base_url: http://127.0.0.1:1 }\nservice_codes: [A]\nsecret: abc\nweb: { listen_address: "${address}" }\n`;
    writeFileSync(folder.at('xvs.yml'), text);
    await using exporter = start(folder, [`--config.file=${folder.at('xvs.yml')}`]);
    await exporter.waitForOutput(/"msg":"Listening"/);
    writeFileSync(folder.at('xvs.yml'), '[');
    await using health = start(folder, ['healthcheck']);
    assert.equal(await health.exitCode, 0, health.stderr);
  });

test('without flags and a running exporter, healthcheck uses the address of the environment', async () => {
  using folder = new TemporaryFolder();
  symlinkSync(PROGRAM_PATH, folder.at('main.js'));
  symlinkSync(PROGRAM_PATH, folder.at('other.js'));
  await using exporter = new Program(process.execPath, [folder.at('other.js')], SETTINGS);
  const address = `127.0.0.1:${await exporter.waitForPort()}`;
  await using health = start(folder, ['healthcheck'], { XVS_WEB_LISTEN_ADDRESS: address });
  assert.equal(await health.exitCode, 0, health.stderr);
});
