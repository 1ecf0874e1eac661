import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { Program, PROGRAM_PATH, startProgram } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

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
    200_000,
    'codes.json',
    JSON.stringify([
      { service_code: 'A', ...Object.fromEntries(createNames(200_000).map((key) => [key, 1])) },
    ]),
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
  test(`--config.check prints the first ${SHOWN} of ${count} ${name}, and the count`, async () => {
    const { exitCode, lines } = await check(file, text, env);
    assert.equal(exitCode, 2);
    assert.equal(lines.length, SHOWN + 1);
    for (const line of lines.slice(0, SHOWN)) assert.match(line, /^\S+(?::\d+:\d+| \[\d+\]).*: expected /);
    assert.equal(lines.at(-1), `and ${count - SHOWN} more, ${count} in total`);
  });
}

test('a file of 300,000 service codes is valid', async () => {
  const codes = JSON.stringify(createNames(300_000));
  const { exitCode, stdout } = await check('codes.json', codes, { XVS_SERVICE_CODE_FILES: '…' });
  assert.equal(exitCode, 0);
  assert.match(stdout, /^The configuration is valid: 300000 service codes\.\n/);
});

const CODES = createNames(2500).map(
  (name) => `- service_code: ${name}
  secret_file: /run/secrets/${name}
  base_url: https://${name}.example.com
  timeout: 5s
  interval: 10s
  stall_after: 30s
  task_name: opaque
  expect: { tasks: 1 }
  labels: { tenant: acme }
`,
);

/** Half a megabyte of ordinary YAML, as many codes as fit. Their secrets are missing. */
const ORDINARY = CODES.join('');

/** Checks a file of codes with 256 MiB of heap and so many seconds of CPU time at most. */
async function checkYaml(text: string, found: string, maxCpuSeconds: number | 'unlimited'): Promise<number> {
  using folder = new TemporaryFolder();
  writeFileSync(folder.at('codes.yml'), text);
  const script = `process.on('exit', () => {
    const { user, system } = process.cpuUsage();
    process.stdout.write('CPU ' + (user + system));
  });`;
  const command = `ulimit -t ${maxCpuSeconds}; exec "${process.execPath}" --max-old-space-size=256 "${PROGRAM_PATH}" --config.check`;
  await using program = new Program('/bin/sh', ['-c', command], {
    ...BASE,
    XVS_SERVICE_CODE_FILES: folder.at('codes.yml'),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}`,
  });
  assert.equal(await program.exitCode, 2, program.stderr.slice(0, 1000));
  assert.ok(program.stderr.includes(found), program.stderr.slice(0, 1000));
  return Number(/CPU (\d+)/.exec(program.stdout)?.[1]) / 1e6;
}

test('YAML of many mistakes takes 256 MiB of heap, and ten times the CPU time of ordinary YAML at most', async (t) => {
  const ordinary = await checkYaml(ORDINARY, 'expected a readable file', 'unlimited');
  t.diagnostic(`${ordinary.toFixed(1)} s of CPU time`);
  assert.ok(ordinary > 0);
  // Without limits, each takes more heap, the end of the stack or more time.
  for (const [name, text, found] of [
    ['levels', '['.repeat(500_000), 'expected valid YAML, found more than 64 levels'],
    ['pairs in pairs', `[${": 'a**- ".repeat(2000)}`, 'expected valid YAML, found more than 64 levels'],
    [
      'tags',
      `[${'!a b,'.repeat(200_000)}`,
      'expected valid YAML, found more than 250000 tokens; list service codes in JSON',
    ],
    [
      'tabs',
      'a:\n\t'.repeat(250_000),
      'expected valid YAML, found more than 250000 tokens; list service codes in JSON',
    ],
    ['escapes', `a: "${'\\q'.repeat(349_000)}"`, 'expected valid YAML, found unexpected content'],
    [
      'aliases',
      `a: &a x\nb: [${'*a,'.repeat(80_000)}]`,
      'expected valid YAML, found more than 100 aliases of one anchor',
    ],
  ] as const)
    await t.test(name, async (inner) => {
      const seconds = await checkYaml(text, found, Math.ceil(10 * ordinary));
      inner.diagnostic(`${seconds.toFixed(1)} s of CPU time`);
      assert.ok(seconds < 10 * ordinary, `${seconds} s of ${ordinary} s`);
    });
});
