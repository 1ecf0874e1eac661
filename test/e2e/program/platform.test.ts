import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { LinkedInstallation } from '../../support/installation.ts';
import { Program, PROGRAM_PATH, SETTINGS, startProgram } from '../../support/program.ts';
import { HASH } from '../../unit/web/secured-server.ts';
import { startSimulatorProgram } from '../../support/simulator-program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

/** Makes `classic-level` look for its build for this architecture; it has none. */
const OTHER_PLATFORM = { ...SETTINGS, npm_config_arch: 'riscv64' };

const NO_BUILD =
  /^state\.path: expected classic-level to load, found No native build was found for platform=\w+ arch=riscv64 [^\n]*; set it to none, or install the exporter on this platform, on a file system without noexec$/;

test('without state, the exporter runs on a platform that its database has no build for', async () => {
  await using check = startProgram(['--config.check'], OTHER_PLATFORM);
  assert.equal(await check.exitCode, 0, check.stderr);
  await using exporter = startProgram([], OTHER_PLATFORM);
  await exporter.waitForPort();
});

test('with state.path, check and start reject a platform without a build of the database', async () => {
  using folder = new TemporaryFolder();
  const env = { ...OTHER_PLATFORM, XVS_STATE_PATH: folder.at('state') };
  await using check = startProgram(['--config.check'], env);
  assert.equal(await check.exitCode, 2);
  assert.match(check.stderr.trimEnd(), NO_BUILD);
  await using exporter = startProgram([], env);
  assert.equal(await exporter.exitCode, 2);
  const [start = '', failure = '', ...others] = exporter.stderr.trimEnd().split('\n');
  assert.match(start, /Starting/);
  assert.match(JSON.parse(failure).err.message, NO_BUILD);
  assert.deepEqual(others, []);
});

test('with a default folder of the state, check and start accept such a platform', async () => {
  using folder = new TemporaryFolder();
  const env = { ...OTHER_PLATFORM, STATE_DIRECTORY: folder.path };
  await using check = startProgram(['--config.check'], env);
  assert.equal(await check.exitCode, 0, check.stderr);
  await using exporter = startProgram([], env);
  await exporter.waitForPort();
  assert.match(exporter.stderr, /expected classic-level to load[^\n]*running without state/);
});

for (const [output, command] of [
  ['a socket', '"$@"'],
  ['a pipe', '"$@" | cat'],
] as const)
  test(`packages that are links are found when the output is ${output}`, async () => {
    using installation = new LinkedInstallation();
    const args = ['-c', command, 'sh', process.execPath, installation.programPath, '--config.check'];
    await using check = new Program('sh', args, SETTINGS);
    await check.exitCode;
    assert.match(check.stdout, /^The configuration is valid/, check.stderr);
  });

test('without optional dependencies, the build that passwords need is named, and how to install it', async () => {
  using installation = new LinkedInstallation();
  installation.isolate('@node-rs/bcrypt');
  writeFileSync(installation.at('web.yml'), `basic_auth_users: { prometheus: ${HASH} }\n`);
  const args = [
    installation.programPath,
    '--config.check',
    `--web.config.file=${installation.at('web.yml')}`,
  ];
  await using check = new Program(process.execPath, args, SETTINGS);
  assert.equal(await check.exitCode, 2);
  assert.match(
    check.stderr,
    /web\.yml basic_auth_users: expected @node-rs\/bcrypt to load, found Cannot find module '@node-rs\/bcrypt-\w+-[^']*'; install the exporter with optional dependencies, on a file system without noexec\n$/,
  );
});

/** Starts the program with a limit of its address space, in GiB. */
function startLimited(gib: number, args: readonly string[], env: Readonly<Record<string, string>>): Program {
  const script = `ulimit -v ${gib * 1024 * 1024}; exec "$@"`;
  return new Program('sh', ['-c', script, 'sh', process.execPath, PROGRAM_PATH, ...args], env);
}

const COMMANDS = [['--config.check'], ['once'], ['healthcheck'], ['serve']];

/** From Node.js 24 on, V8 takes memories without reserved space where a limit leaves none. */
const RESERVES_SPACE = Number(process.versions.node.split('.')[0]) < 24;

for (const gib of RESERVES_SPACE ? [2, 8, 12, 30] : [])
  test(`an address space of ${gib} GiB ends each command with one sentence`, async () => {
    for (const args of COMMANDS) {
      await using program = startLimited(gib, args, SETTINGS);
      assert.equal(await program.exitCode, 2, program.stderr);
      assert.equal(
        program.stderr,
        `xvs-exporter: expected 31 GiB of address space, 10 GiB for each WebAssembly memory, found a limit of ${gib} GiB; raise it (ulimit -v, LimitAS) or set NODE_OPTIONS=--disable-wasm-trap-handler\n`,
      );
    }
  });

for (const [gib, options] of [
  [4, RESERVES_SPACE ? '--disable-wasm-trap-handler' : ''],
  [32, ''],
] as const)
  test(`polls succeed in ${gib} GiB of address space with NODE_OPTIONS='${options}'`, async () => {
    await using simulator = startSimulatorProgram('--service-code=TESTING:abc');
    const env = { ...SETTINGS, XVS_UPSTREAM_BASE_URL: await simulator.waitForUrl(), NODE_OPTIONS: options };
    await using once = startLimited(gib, ['once'], env);
    assert.equal(await once.exitCode, 0, once.stderr);
  });

test('without WebAssembly each command ends with one sentence', async () => {
  for (const args of COMMANDS) {
    await using program = new Program(process.execPath, ['--jitless', PROGRAM_PATH, ...args], SETTINGS);
    assert.equal(await program.exitCode, 2, program.stderr);
    assert.match(
      program.stderr,
      /^(?:Warning: [^\n]*\n)?xvs-exporter: expected WebAssembly, found none; [^\n]*\n$/,
    );
  }
});
