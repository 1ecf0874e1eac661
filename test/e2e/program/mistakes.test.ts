import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { assertGolden, fixturePath } from '../../support/fixtures.ts';
import { Program, PROGRAM_PATH, SETTINGS, startProgram } from '../../support/program.ts';
import { readRepositoryFile } from '../../support/repository.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

/** Messages that contain it are leaks. */
const SECRET = 'hunter2-8675309';

interface Mistake {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The text of the configuration file. */
  readonly yml?: string | Buffer;
}

const CODE = 'service_codes: [TESTING]\nsecret: abc\n';
const VALID = `upstream: { base_url: http://127.0.0.1:1 }\n${CODE}`;

/** Mistakes that only the program can show. The messages are in `test/fixtures/program/mistakes.txt`. */
const MISTAKES: Readonly<Record<string, Mistake>> = {
  'no configuration at all': {},
  'a misspelt variable': {
    env: { XVS_UPSTREAM_BASEURL: 'http://127.0.0.1:1', XVS_SECRET: 'abc', XVS_SERVICE_CODES: 'TESTING' },
  },
  'a misspelt variable of a setting with a default': { env: { ...SETTINGS, XVS_POLL_INTERVALL: '5s' } },
  'a misspelt command': { args: ['serv'] },
  'a flag in place of a command': { args: ['check'] },
  'a configuration file that does not exist': { args: ['--config.file=xvs.yaml'] },
  'a certificate with the key of another one': {
    yml: `upstream: { base_url: http://127.0.0.1:1, cert_file: client.pem, key_file: server.key }\n${CODE}`,
  },
  'a client certificate that has expired': {
    yml: `upstream: { base_url: https://127.0.0.1:1, cert_file: expired.pem, key_file: expired.key }\n${CODE}`,
  },
  'a client certificate that is for servers': {
    yml: `upstream: { base_url: https://127.0.0.1:1, cert_file: server-only.pem, key_file: server-only.key }\n${CODE}`,
  },
  'a web certificate without a host name': {
    yml: `${VALID}web: { config: { file: web-nameless.yml } }\n`,
  },
  'a web certificate that is not yet valid': {
    yml: `${VALID}web: { config: { file: web-not-yet-valid.yml } }\n`,
  },
  'a variable in the file': { yml: VALID.replace('abc', '${XVS_SECRET}') },
  'a variable in a variable': { env: { ...SETTINGS, XVS_SECRET: '${SECRET}' } },
  'a file in UTF-16': { yml: Buffer.from(`\uFEFF${VALID}`, 'utf16le') },
  'a file in UTF-16 without a byte order mark': { yml: Buffer.from(VALID, 'utf16le') },
  'a word in capitals': { args: ['--log.level=WARN', '--log.format=Json'], env: SETTINGS },
  'a flag with no-': { args: ['--no-metrics.per-task', '--no-web.open-probes'], env: SETTINGS },
  'a flag and the same with no-': { args: ['--metrics.per-task', '--no-metrics.per-task'], env: SETTINGS },
  'a flag with no- and a value': { args: ['--no-metrics.per-task=true'], env: SETTINGS },
  'a flag with no- that is not true or false': { args: ['--no-log.level'], env: SETTINGS },
  'a minimum that streams cannot reach': {
    yml: VALID.replace(
      '[TESTING]',
      '[{ service_code: A, task_name: opaque, expect: { names: [{ name: main, min_input_rate: 101Mbit/s }] } }]',
    ),
  },
  'the secret in a service code': {
    env: { ...SETTINGS, XVS_SERVICE_CODES: SECRET, XVS_SECRET: SECRET },
  },
  'codes in quotes, as docker --env-file leaves them': { env: { ...SETTINGS, XVS_SERVICE_CODES: '"A,B"' } },
  'a command after a flag': { args: ['--config.file', 'xvs.yml', 'once'] },
  'a command after secret values': {
    args: [
      '--config.file=xvs.yml',
      `--secret=${SECRET}`,
      `--upstream.base-url=http://user:${SECRET}@host`,
      '--metrics.per-task',
      'serve',
    ],
  },
  'an old Node.js': {
    env: {
      ...SETTINGS,
      NODE_OPTIONS:
        "--import=data:text/javascript,Object.defineProperty(process,'versions',{value:{node:'18.20.0'}})",
    },
  },
};

async function describeMistake(name: string, { args = [], env = {}, yml }: Mistake): Promise<string> {
  using folder = new TemporaryFolder();
  copyFileSync(fixturePath('tls/client.pem'), folder.at('client.pem'));
  copyFileSync(fixturePath('tls/server.key'), folder.at('server.key'));
  for (const own of ['expired', 'server-only', 'nameless', 'not-yet-valid'])
    for (const file of [`${own}.pem`, `${own}.key`])
      copyFileSync(fixturePath(`tls/${file}`), folder.at(file));
  for (const own of ['nameless', 'not-yet-valid'])
    writeFileSync(
      folder.at(`web-${own}.yml`),
      `tls_server_config: { cert_file: ${own}.pem, key_file: ${own}.key }\n`,
    );
  writeFileSync(folder.at('xvs.yml'), yml ?? '');
  const file = yml === undefined ? [] : [`--config.file=${folder.at('xvs.yml')}`];
  const check = args[0]?.startsWith('--config.file') === true ? [] : ['--config.check'];
  const all = /^\w/.test(args[0] ?? '') ? args : [...check, ...file, ...args];
  await using program = new Program(process.execPath, [PROGRAM_PATH, ...all], env, folder.at('.'));
  const exitCode = await program.exitCode;
  assert.ok(!/hunter2|8675309/.test(program.stderr), `${name} shows a secret`);
  const text = program.stderr
    .replaceAll(folder.at('.'), '/etc/xvs')
    .replaceAll(/for user \d+/g, 'for user 1000');
  return `${name}: exit code ${exitCode}\n${text.replaceAll(/^/gm, '  ').trimEnd()}\n`;
}

test('mistakes are reported with place, expectation, finding and remedy', async () => {
  const texts: string[] = [];
  for (const [name, mistake] of Object.entries(MISTAKES)) texts.push(await describeMistake(name, mistake));
  assertGolden('program/mistakes.txt', texts.join('\n'));
});

const VARIABLES = {
  XVS_POLL_INTERVALL: '5s',
  XVS_EXPORTER_SERVICE_HOST: '10.0.0.1',
  XVS_EXPORTER_SERVICE_PORT: '20928',
  XVS_EXPORTER_PORT: 'tcp://10.0.0.1:20928',
  XVS_EXPORTER_PORT_20928_TCP_ADDR: '10.0.0.1',
  XVS_LOG_SERVICE_HOST: '10.0.0.1',
  XVS_SOMETHING_ELSE: '1',
};

test('--config.check does not warn about variables of Kubernetes', async () => {
  const { XVS_POLL_INTERVALL: _misspelt, ...ofKubernetes } = VARIABLES;
  await using program = startProgram(['--config.check'], { ...SETTINGS, ...ofKubernetes });
  assert.equal(await program.exitCode, 0);
  assert.equal(program.stderr, '');
});

test('serve logs a misspelt variable as a warning', async () => {
  await using program = startProgram([], { ...SETTINGS, ...VARIABLES });
  await program.waitForPort();
  const warnings = program.stderr.match(/.*"msg":"Questionable configuration".*/g) ?? [];
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /variable XVS_POLL_INTERVALL: .* did you mean XVS_POLL_INTERVAL\?/);
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
});

test('Node.js 12 can run the files that say that it is too old', () => {
  const { engines } = JSON.parse(readRepositoryFile('package.json'));
  for (const path of ['dist/main.js', 'scripts/setup.mjs']) {
    const text = readRepositoryFile(path);
    assert.doesNotMatch(text, /^\s*import [^(]|\?\.|\?\?|^\s*await /m, path);
    assert.ok(text.includes(`Node.js ${String(engines.node).replace('>=', '')} or later`), path);
  }
});
