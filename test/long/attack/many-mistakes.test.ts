import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { MAX_COST_RATIO } from '../../support/cost-ratio.ts';
import { Program, PROGRAM_PATH } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const BASE = { XVS_UPSTREAM_BASE_URL: 'http://127.0.0.1:1', XVS_SECRET: 'abc' };
const SHOWN = 20;

function createNames(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `name-${index}`);
}

interface CheckOptions {
  /** The CPU time after which the process is killed. */
  readonly maxCpuSeconds?: number;
  readonly maxHeapMiB?: number;
}

interface Check {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly cpuSeconds: number;
}

const WRITE_CPU_TIME = `process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  process.stdout.write('CPU ' + (user + system));
});`;

/** Runs `--config.check` on a file, whose path stands for `…` in the environment. */
async function check(
  file: string,
  text: string,
  env: Readonly<Record<string, string>>,
  { maxCpuSeconds, maxHeapMiB = 4096 }: CheckOptions = {},
): Promise<Check> {
  using folder = new TemporaryFolder();
  writeFileSync(folder.at(file), text);
  const paths = Object.entries(env).map(([name, value]) => [name, value.replace('…', folder.at(file))]);
  const command = `ulimit -t ${maxCpuSeconds ?? 'unlimited'}; exec "${process.execPath}" --max-old-space-size=${maxHeapMiB} "${PROGRAM_PATH}" --config.check`;
  await using program = new Program('/bin/sh', ['-c', command], {
    ...BASE,
    ...Object.fromEntries(paths),
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(WRITE_CPU_TIME)}`,
  });
  const exitCode = await program.exitCode;
  const { stdout, stderr } = program;
  return { exitCode, stdout, stderr, cpuSeconds: Number(/CPU (\d+)/.exec(stdout)?.[1]) / 1e6 };
}

/** Checks a file for at most ten times the CPU time of another one. */
async function checkLike(ordinary: Check, ...[file, text, env, options]: Parameters<typeof check>) {
  const maxCpuSeconds = MAX_COST_RATIO * ordinary.cpuSeconds;
  const checked = await check(file, text, env, { ...options, maxCpuSeconds: Math.ceil(maxCpuSeconds) });
  assert.equal(checked.exitCode, 2, checked.stderr.slice(0, 1000));
  assert.ok(checked.cpuSeconds < maxCpuSeconds, `${checked.cpuSeconds} s of ${ordinary.cpuSeconds} s`);
  return checked;
}

const listCodes = (count: number, code: object): string =>
  JSON.stringify(createNames(count).map((name) => ({ service_code: name, ...code })));

const FILES = { XVS_SERVICE_CODE_FILES: '…' };

// An algorithm that compares each entry with each other one takes longer, for the 20,000 only if the
// comparison is costly, such as that of spellings. A call with this number of arguments fails.
for (const [name, count, file, ordinary, text, env] of [
  [
    'unknown keys',
    10_000,
    'xvs.yml',
    `service_codes:\n${createNames(10_000)
      .map((code) => `- ${code}\n`)
      .join('')}`,
    createNames(10_000)
      .map((key) => `${key}: 1\n`)
      .join(''),
    { XVS_CONFIG_FILE: '…' },
  ],
  [
    'unknown keys of a service code',
    200_000,
    'codes.json',
    JSON.stringify(createNames(200_000)),
    JSON.stringify([
      { service_code: 'A', ...Object.fromEntries(createNames(200_000).map((key) => [key, 1])) },
    ]),
    FILES,
  ],
  [
    'service codes with a mistake',
    80_000,
    'codes.json',
    listCodes(80_000, { interval: '10s' }),
    listCodes(80_000, { interval: '1' }),
    FILES,
  ],
] as const) {
  test(`--config.check prints the first ${SHOWN} of ${count} ${name}, and the count, in ten times the CPU time of as many valid entries at most`, async (t) => {
    const valid = await check(file, ordinary, env);
    assert.equal(valid.exitCode, 0, valid.stderr.slice(0, 1000));
    const { stderr, cpuSeconds } = await checkLike(valid, file, text, env);
    t.diagnostic(`${cpuSeconds.toFixed(1)} s of CPU time, ${valid.cpuSeconds.toFixed(1)} s if valid`);
    const lines = stderr.trimEnd().split('\n');
    assert.equal(lines.length, SHOWN + 1);
    for (const line of lines.slice(0, SHOWN)) assert.match(line, /^\S+(?::\d+:\d+| \[\d+\]).*: expected /);
    assert.equal(lines.at(-1), `and ${count - SHOWN} more, ${count} in total`);
  });
}

test('a file of 300,000 service codes is valid', async () => {
  const { exitCode, stdout } = await check('codes.json', JSON.stringify(createNames(300_000)), FILES);
  assert.equal(exitCode, 0);
  assert.match(stdout, /^The configuration is valid: 300000 service codes\.\n/);
});

const CODES = createNames(1000).map(
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

/** A quarter of a megabyte of ordinary YAML, as many codes as fit. Their secrets are missing. */
const ORDINARY = CODES.join('');

const SMALL_HEAP = { maxHeapMiB: 256 };

test('YAML of many mistakes takes 256 MiB of heap, and ten times the CPU time of ordinary YAML at most', async (t) => {
  const ordinary = await check('codes.yml', ORDINARY, FILES, SMALL_HEAP);
  t.diagnostic(`${ordinary.cpuSeconds.toFixed(1)} s of CPU time`);
  assert.match(ordinary.stderr, /expected a readable file/);
  // Without limits, each takes more heap, the end of the stack or more time.
  for (const [name, text, found] of [
    ['levels', '['.repeat(250_000), 'expected valid YAML, found more than 64 levels'],
    ['pairs in pairs', `[${": 'a**- ".repeat(2000)}`, 'expected valid YAML, found more than 64 levels'],
    ['tags', `[${'!a b,'.repeat(50_000)}`, 'expected valid YAML, found an unknown tag'],
    ['tabs', 'a:\n\t'.repeat(60_000), 'expected valid YAML, found a tab used for indentation'],
    ['escapes', `a: "${'\\q'.repeat(130_000)}"`, 'expected valid YAML, found unexpected content'],
    [
      'aliases',
      `a: &a x\nb: [${'*a,'.repeat(80_000)}]`,
      'expected valid YAML, found more than 100 aliases of one anchor',
    ],
  ] as const)
    await t.test(name, async (inner) => {
      const { stderr, cpuSeconds } = await checkLike(ordinary, 'codes.yml', text, FILES, SMALL_HEAP);
      inner.diagnostic(`${cpuSeconds.toFixed(1)} s of CPU time`);
      assert.ok(stderr.includes(found), stderr.slice(0, 1000));
    });
});
