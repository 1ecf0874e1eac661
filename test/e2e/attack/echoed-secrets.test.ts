import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const SECRET = 'hunter2-is-secret';
const BASE = {
  XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
  XVS_SERVICE_CODES: 'A',
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
};

const MISTAKES: readonly (readonly [
  name: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  yml?: string,
])[] = [
  ['as the path of the secret file in the environment', [], { XVS_SECRET_FILE: SECRET }],
  ['as the path of the secret file in a flag', [`--secret-file=${SECRET}`]],
  ['as the path of the secret file in the file', [], {}, `secret_file: ${SECRET}`],
  [
    'as the path of the secret file of a code',
    [],
    { XVS_SERVICE_CODES: '' },
    `service_codes: [{ service_code: A, secret_file: ${SECRET} }]`,
  ],
  ['as the path of a secret file that is a number', [], {}, 'secret_file: [hunter2-is-secret]'],
  ['as a command', [SECRET]],
  ['as an argument', ['--log.level=info', SECRET]],
  ['as an argument of another command', ['once', SECRET]],
  ['as an unknown flag', [`--${SECRET}`]],
  ['as an unknown flag with a value', [`--${SECRET}=1`]],
  ['as the value of a switch', [`--config.check=${SECRET}`]],
  ['as an unknown key', [], {}, `${SECRET}: x`],
  ['as an unknown key of a group', [], {}, `upstream: { ${SECRET}: x }`],
  ['as an unknown key of a code', [], {}, `service_codes: [{ service_code: A, ${SECRET}: x }]`],
  ['as text instead of settings', [], {}, SECRET],
  ['with a blank after it', [], { XVS_SECRET: `${SECRET} ` }],
  ['with a byte order mark', [], { XVS_SECRET: `\uFEFF${SECRET}` }],
];

for (const [name, args, env = {}, yml = ''] of MISTAKES) {
  test(`a secret ${name} is not printed`, { timeout: 600_000 }, async () => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at('xvs.yml'), yml);
    await using exporter = startProgram(args, { ...BASE, XVS_CONFIG_FILE: folder.at('xvs.yml'), ...env });
    assert.equal(await exporter.exitCode, 2);
    const output = exporter.stdout + exporter.stderr;
    assert.ok(!output.includes('hunter2'), output);
    assert.match(output, /: expected /);
  });
}

test(
  'a secret as the path of the secret file reaches neither log nor response of a reload',
  { timeout: 600_000 },
  async () => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at('xvs.yml'), 'secret: abc');
    const flags = ['--web.enable-lifecycle', `--config.file=${folder.at('xvs.yml')}`];
    await using exporter = startProgram(flags, BASE);
    const port = await exporter.waitForPort();
    writeFileSync(folder.at('xvs.yml'), `secret_file: ${SECRET}`);
    const response = await fetch(`http://127.0.0.1:${port}/-/reload`, { method: 'POST' });
    assert.equal(response.status, 500);
    await exporter.waitForOutput(/"msg":"Configuration reload failed"/);
    const shown = exporter.stdout + exporter.stderr + (await response.text());
    assert.ok(!shown.includes('hunter2'), shown);
  },
);
