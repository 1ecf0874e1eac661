import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fixturePath } from '../../support/fixtures.ts';
import { Program, PROGRAM_PATH, startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const SETTINGS = {
  XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
  XVS_SERVICE_CODES: 'TESTING',
  XVS_SECRET: 'abc',
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
};

for (const args of [['--config.check'], []]) {
  const command = args.join('') || 'serve';

  test(`${command} rejects the state file of earlier versions and names its replacement`, async () => {
    await using program = startProgram([...args, '--state.file=/var/lib/state'], SETTINGS);
    assert.equal(await program.exitCode, 2);
    assert.equal(
      program.stderr,
      'flag --state.file: expected a known setting, found one that was removed; set `state.path` to a folder; the counters of the file are not imported\n',
    );
  });

  test(`${command} rejects a client certificate with the key of another one`, async () => {
    using folder = new TemporaryFolder();
    copyFileSync(fixturePath('tls/client.pem'), folder.at('cert.pem'));
    copyFileSync(fixturePath('tls/server.key'), folder.at('key.pem'));
    const files = [
      `--upstream.cert-file=${folder.at('cert.pem')}`,
      `--upstream.key-file=${folder.at('key.pem')}`,
    ];
    await using program = startProgram([...args, ...files], SETTINGS);
    assert.equal(await program.exitCode, 2);
    assert.equal(
      program.stderr,
      'flag --upstream.key-file: expected the unencrypted key of the certificate, found the key of a different certificate\n',
    );
  });
}

const VARIABLES = {
  XVS_POLL_INTERVALL: '5s',
  XVS_EXPORTER_SERVICE_HOST: '10.0.0.1',
  XVS_EXPORTER_SERVICE_PORT: '20928',
  XVS_EXPORTER_PORT: 'tcp://10.0.0.1:20928',
  XVS_EXPORTER_PORT_20928_TCP_ADDR: '10.0.0.1',
  XVS_LOG_SERVICE_HOST: '10.0.0.1',
  XVS_SOMETHING_ELSE: '1',
};

test('--config.check warns about a misspelt variable, but not about those of Kubernetes', async () => {
  await using program = startProgram(['--config.check'], { ...SETTINGS, ...VARIABLES });
  assert.equal(await program.exitCode, 0);
  assert.equal(
    program.stderr,
    'environment variable XVS_POLL_INTERVALL: expected a known variable, found an unknown one, which has no effect; did you mean XVS_POLL_INTERVAL?\n',
  );
});

test('serve logs a misspelt variable as a warning', async () => {
  await using program = startProgram([], { ...SETTINGS, ...VARIABLES });
  await program.waitForPort();
  const warnings = program.stderr.match(/.*"msg":"Unknown environment variable".*/g) ?? [];
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /"variable":"XVS_POLL_INTERVALL","suggestion":"XVS_POLL_INTERVAL"/);
});

test('healthcheck uses the address of the configuration file, even if another setting in it is invalid', async () => {
  using folder = new TemporaryFolder();
  await using exporter = startProgram([], SETTINGS);
  const port = await exporter.waitForPort();
  writeFileSync(
    folder.at('xvs.yml'),
    `web: { listen_address: "127.0.0.1:${port}", max_requests: none }\nunknown: 1\n`,
  );
  await using health = startProgram(['healthcheck', `--config.file=${folder.at('xvs.yml')}`]);
  assert.equal(await health.exitCode, 0, health.stderr);
  await using other = startProgram(['healthcheck'], { XVS_CONFIG_FILE: folder.at('xvs.yml') });
  assert.equal(await other.exitCode, 0, other.stderr);
});

test('a start with too few file descriptors says so in one sentence', async () => {
  const command = `ulimit -n 40; exec "${process.execPath}" "${PROGRAM_PATH}" once`;
  await using program = new Program('/bin/sh', ['-c', command], SETTINGS);
  // Newer lines of Node.js open one file at a time while they start, and need fewer.
  const isStarted = (await program.exitCode) === 1;
  if (isStarted) assert.match(program.stderr, /"reason":"connect"/);
  else
    assert.equal(
      program.stderr,
      'xvs-exporter: Expected to be allowed to open 256 files, found fewer: raise the limit (ulimit -n, LimitNOFILE)\n',
    );
});
