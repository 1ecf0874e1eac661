import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { shardOf } from '../../src/sharding/rendezvous.ts';
import { startSimulator } from '../../src/simulator/server.ts';
import { createWorld } from '../../src/simulator/world.ts';
import { isInstalled } from '../support/installed.ts';
import { Program, PROGRAM, xvsExporter } from '../support/program.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';
import { until } from '../support/until.ts';

const CODES: readonly string[] = Array.from({ length: 60 }, (_, number) => `customer-${number}`);

async function serviceOf(codes: readonly string[]): Promise<AsyncDisposable & { readonly url: string }> {
  return await startSimulator({
    listen: { host: '127.0.0.1', port: 0 },
    world: createWorld({ seed: 1, startedAtMs: systemClock.now(), users: 5, tasks: 2 }),
    codes: new Map(codes.map((code) => [code, 'abc'])),
    clock: systemClock,
    clockToleranceMs: 60_000,
    gzip: true,
  });
}

const settings = (url: string, codes: readonly string[] = CODES): Record<string, string> => ({
  XVS_UPSTREAM_BASE_URL: url,
  XVS_SERVICE_CODES: codes.join(','),
  XVS_SECRET: 'abc',
  XVS_POLL_INTERVAL: '1s',
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
});

const shardArgs = (index: number, count: number): string[] => [
  `--shard.index=${index}`,
  `--shard.count=${count}`,
];

async function addressOf(program: Program): Promise<string> {
  return `http://127.0.0.1:${await program.printed(/"port":(\d+),"msg":"Listening"/)}`;
}

async function untilReady(address: string): Promise<void> {
  await until(
    async () => (await fetch(`${address}/-/ready`)).status,
    (status) => status === 200,
    10_000,
  );
}

/** The values of a family, by service code. */
function valuesOf(exposition: string, family: string): ReadonlyMap<string, number> {
  const lines = exposition.matchAll(new RegExp(`^${family}(?:\\{service_code="([^"]*)"\\})? (\\S+)$`, 'gm'));
  return new Map([...lines].map(([, code = '', value]) => [code, Number(value)]));
}

/** Which shard exposes which service codes in `xvs_up`, of so many processes that begin together. */
async function ownersAmong(count: number, url: string): Promise<ReadonlyMap<string, number>> {
  const programs = Array.from({ length: count }, (_, index) =>
    xvsExporter(shardArgs(index, count), settings(url)),
  );
  try {
    const owners = new Map<string, number>();
    for (const [index, program] of programs.entries()) {
      const address = await addressOf(program);
      await untilReady(address);
      const text = await (await fetch(`${address}/metrics`)).text();
      const up = valuesOf(text, 'xvs_up');
      assert.deepEqual(valuesOf(text, 'xvs_exporter_shards').get(''), count);
      assert.deepEqual(valuesOf(text, 'xvs_exporter_shard').get(''), index);
      assert.deepEqual(valuesOf(text, 'xvs_exporter_service_codes').get(''), up.size);
      for (const [code, value] of up) {
        assert.equal(value, 1, code);
        assert.ok(!owners.has(code), `${code} is polled by ${owners.get(code)} and by ${index}`);
        owners.set(code, index);
      }
    }
    return owners;
  } finally {
    await Promise.all(programs.map((program) => program[Symbol.asyncDispose]()));
  }
}

test(
  'four processes poll each code once, and a fifth takes a fifth of them',
  { timeout: 60_000 },
  async () => {
    await using service = await serviceOf(CODES);
    const four = await ownersAmong(4, service.url);
    assert.deepEqual([...four.keys()].toSorted(), CODES.toSorted());
    const five = await ownersAmong(5, service.url);
    assert.deepEqual([...five.keys()].toSorted(), CODES.toSorted());
    const moved = CODES.filter((code) => four.get(code) !== five.get(code));
    assert.deepEqual([...new Set(moved.map((code) => five.get(code)))], [4]);
    // 12 are a fifth; of fair dice, fewer than 4 or more than 20 come once in a hundred times.
    assert.ok(moved.length >= 4 && moved.length <= 20, `${moved.length} moved`);
  },
);

test('who asks a shard for a code of another is told which one', async () => {
  const codes = ['A', 'B', 'C', 'D'];
  await using service = await serviceOf(codes);
  await using program = xvsExporter(shardArgs(0, 2), settings(service.url, codes));
  const address = await addressOf(program);
  await untilReady(address);
  const other = codes.find((code) => shardOf(code, 2) === 1) ?? '';
  const own = codes.find((code) => shardOf(code, 2) === 0) ?? '';
  const answers: readonly (readonly [path: string, status: number, text: RegExp])[] = [
    [`/metrics?service_code=${own}`, 200, /^xvs_up\{/m],
    [`/metrics?service_code=${other}`, 404, /^Shard 1 polls this service code; this is shard 0 of 2\.\n$/],
    [`/service-codes/${other}`, 404, /^Shard 1 polls this service code; this is shard 0 of 2\.\n$/],
    ['/metrics?service_code=unknown', 404, /^No such service code is configured\.\n$/],
    ['/', 200, / up \(shard 0 of 2\)/],
  ];
  for (const [path, status, text] of answers) {
    const response = await fetch(address + path);
    assert.equal(response.status, status, path);
    assert.match(await response.text(), text, path);
  }
  assert.match(program.stderr, /"service_codes":\d,"shard":0,"shards":2,"msg":"Starting xvs-exporter"/);
});

test('a shard without codes is ready, healthy, and says so', async () => {
  await using service = await serviceOf(['A']);
  const empty = 1 - shardOf('A', 2);
  await using program = xvsExporter(shardArgs(empty, 2), settings(service.url, ['A']));
  const address = await addressOf(program);
  await untilReady(address);
  assert.equal((await fetch(`${address}/-/healthy`)).status, 200);
  const text = await (await fetch(`${address}/metrics`)).text();
  assert.equal(valuesOf(text, 'xvs_exporter_service_codes').get(''), 0);
  assert.doesNotMatch(text, /service_code=/);
  assert.match(await (await fetch(address)).text(), /No service code is polled here by now\./);
  program.signal('SIGTERM');
  assert.equal(await program.exit, 0, program.stderr);
});

test('once without codes prints an exposition, with --explain that there is nothing to poll', async () => {
  const empty = shardArgs(1 - shardOf('A', 2), 2);
  const nowhere = settings('http://127.0.0.1:1', ['A']);
  await using once = xvsExporter(['once', ...empty], nowhere);
  assert.equal(await once.exit, 0, once.stderr);
  assert.match(once.stdout, /^xvs_exporter_service_codes 0$/m);
  await using explained = xvsExporter(['once', '--explain', ...empty], nowhere);
  assert.equal(await explained.exit, 0, explained.stderr);
  assert.match(explained.stdout, /^No service code is polled by shard \d of 2\.\n$/);
});

test('of the state of another shard, a shard takes what is its own', async () => {
  const codes = CODES.slice(0, 8);
  await using service = await serviceOf(codes);
  using folder = new TemporaryFolder();
  const env = { ...settings(service.url, codes), XVS_STATE_FILE: folder.at('state') };
  /** How many codes such a process found in the file, and how many it dropped. */
  const runOnce = async (index: number, count: number): Promise<readonly (string | undefined)[]> => {
    await using program = xvsExporter(shardArgs(index, count), env);
    await untilReady(await addressOf(program));
    program.signal('SIGTERM');
    assert.equal(await program.exit, 0, program.stderr);
    const found = /"service_codes":(\d+),"dropped_service_codes":(\d+)/.exec(program.stderr);
    return found?.slice(1) ?? [];
  };
  const own = codes.filter((code) => shardOf(code, 2) === 0).length;
  assert.deepEqual(await runOnce(0, 1), []);
  assert.deepEqual(await runOnce(0, 2), [String(own), String(8 - own)]);
  assert.deepEqual(await runOnce(1, 2), ['0', String(own)]);
});

test('a pod of a StatefulSet knows its shard by its host name', async (t) => {
  if (!isInstalled(t, 'unshare')) return;
  const check = `echo xvs-exporter-3 > /proc/sys/kernel/hostname && exec "$0" "$1" --config.check --shard.count=4`;
  await using program = new Program(
    'unshare',
    ['--map-root-user', '--uts', 'sh', '-c', check, process.execPath, PROGRAM],
    settings('http://127.0.0.1:1'),
  );
  assert.equal(await program.exit, 0, program.stderr);
  const own = CODES.filter((code) => shardOf(code, 4) === 3).length;
  assert.match(program.stdout, new RegExp(`: ${own} of 60 service codes, those of shard 3 of 4\\.\n`));
});
