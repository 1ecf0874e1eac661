import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { AttackedExporter } from './attacked-exporter.ts';

const BASE = { XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1', XVS_SECRET: 'abc' };
const SHOWN = 20;

function createNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `name-${index}`);
}

async function check(
  file: string,
  text: string,
  env: Readonly<Record<string, string>>,
): Promise<{ readonly exitCode: number | null; readonly stdout: string; readonly lines: readonly string[] }> {
  using folder = new TemporaryFolder();
  writeFileSync(folder.at(file), text);
  const paths = Object.entries(env).map(([name, value]) => [name, value.replace('…', folder.at(file))]);
  await using exporter = startProgram(['--config.check'], { ...BASE, ...Object.fromEntries(paths) });
  const exitCode = await exporter.exitCode;
  return { exitCode, stdout: exporter.stdout, lines: exporter.stderr.trimEnd().split('\n') };
}

// An algorithm that compares each key with each other one takes more than 30 s for these counts, and a call with this
// number of arguments fails.
for (const [name, count, file, text, env] of [
  [
    'unknown keys',
    20_000,
    'xvs.yml',
    createNames(20_000)
      .map((key) => `${key}: 1\n`)
      .join(''),
    { XVS_CONFIG_FILE: '…', XVS_SERVICE_CODES: 'A' },
  ],
  [
    'unknown keys of a service code',
    20_000,
    'codes.yml',
    `- service_code: A\n${createNames(20_000)
      .map((key) => `  ${key}: 1\n`)
      .join('')}`,
    { XVS_SERVICE_CODE_FILES: '…' },
  ],
  [
    'service codes with a mistake',
    80_000,
    'codes.json',
    JSON.stringify(createNames(80_000).map((code) => ({ service_code: code, interval: '1' }))),
    { XVS_SERVICE_CODE_FILES: '…' },
  ],
] as const) {
  test(
    `--config.check prints the first ${SHOWN} of ${count} ${name}, and the count`,
    { timeout: 300_000 },
    async () => {
      const { exitCode, lines } = await check(file, text, env);
      assert.equal(exitCode, 2);
      assert.equal(lines.length, SHOWN + 1);
      for (const line of lines.slice(0, SHOWN)) assert.match(line, /^\S+(?::\d+:\d+| \[\d+\]).*: expected /);
      assert.equal(lines.at(-1), `and ${count - SHOWN} more, ${count} in total`);
    },
  );
}

test('a file of 300,000 service codes is valid', { timeout: 300_000 }, async () => {
  const codes = JSON.stringify(createNames(300_000));
  const { exitCode, stdout } = await check('codes.json', codes, { XVS_SERVICE_CODE_FILES: '…' });
  assert.equal(exitCode, 0);
  assert.match(stdout, /^The configuration is valid: 300000 service codes\.\n/);
});

test('a reload of 2 MB of YAML is rejected, and the exporter continues', { timeout: 300_000 }, async () => {
  using folder = new TemporaryFolder();
  folder.replace('xvs.yml', '');
  await using exporter = await AttackedExporter.start({ XVS_CONFIG_FILE: folder.at('xvs.yml') });
  folder.replace('xvs.yml', `service_codes: [${'A,'.repeat(1_000_000)}]`);
  exporter.program.signal('SIGHUP');
  await exporter.program.waitForOutput(/expected at most 1 MiB of YAML.*"msg":"Configuration reload failed"/);
  assert.equal((await exporter.get()).status, 200);
});
