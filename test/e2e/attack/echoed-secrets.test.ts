import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const SECRET = 'hunter2-is-secret';
const BASE = {
  XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1',
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
};

const MISTAKES: readonly (readonly [
  name: string,
  args: readonly string[],
  env?: Readonly<Record<string, string>>,
  yml?: string,
])[] = [
  ['as a flag', [`--secret=${SECRET}`]],
  ['as a list', [], {}, `secret: [${SECRET}]`],
  ['of a code as a mapping', [], {}, `service_codes: [{ service_code: A, secret: { is: ${SECRET} } }]`],
  ['of a code with invalid YAML', [], {}, `service_codes: [{ service_code: A, secret: "${SECRET} }]`],
  [
    'of a code among its labels',
    [],
    {},
    `service_codes: [{ service_code: A, labels: { secret: ${SECRET} } }]`,
  ],
  ['as the password in the URL of the service', [], { XVS_UPSTREAM_BASE_URL: `http://user:${SECRET}@host` }],
  [
    'as the password in the URL of a proxy',
    [],
    { XVS_SECRET: 'abc', http_proxy: `ftp://user:${SECRET}@host` },
  ],
];

for (const [name, args, env = {}, yml = ''] of MISTAKES) {
  test(`a secret ${name} is not printed`, { timeout: 600_000 }, async () => {
    using folder = new TemporaryFolder();
    writeFileSync(folder.at('xvs.yml'), yml);
    await using exporter = startProgram(args, {
      ...BASE,
      XVS_SERVICE_CODES: yml.startsWith('service_codes') ? '' : 'A',
      XVS_CONFIG_FILE: folder.at('xvs.yml'),
      ...env,
    });
    assert.equal(await exporter.exitCode, 2);
    const output = exporter.stdout + exporter.stderr;
    assert.ok(!output.includes('hunter2'), output);
    assert.match(output, /: expected /);
  });
}
