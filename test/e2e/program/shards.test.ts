import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../src/runtime/clock.ts';
import { selectShard } from '../../../src/sharding/shard.ts';
import { startSimulator } from '../../simulator/server.ts';
import { createWorld } from '../../simulator/world.ts';
import { startProgram, type Program } from '../../support/program.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { waitUntil } from '../../support/wait-until.ts';

const CODES: readonly string[] = Array.from({ length: 60 }, (_, number) => `customer-${number}`);

async function startService(codes: readonly string[]): Promise<AsyncDisposable & { readonly url: string }> {
  return await startSimulator({
    world: createWorld({ seed: 1, startedAtMs: systemClock.now(), users: 5, tasks: 2 }),
    secretsByServiceCode: new Map(codes.map((code) => [code, 'abc'])),
  });
}

const createSettings = (url: string, codes: readonly string[] = CODES): Record<string, string> => ({
  XVS_UPSTREAM_BASE_URL: url,
  XVS_SERVICE_CODES: codes.join(','),
  XVS_SECRET: 'abc',
  XVS_POLL_INTERVAL: '1s',
  XVS_WEB_LISTEN_ADDRESS: '127.0.0.1:0',
});

const createShardArgs = (index: number, count: number): string[] => [
  `--shard.index=${index}`,
  `--shard.count=${count}`,
];

async function waitForAddress(program: Program): Promise<string> {
  return `http://127.0.0.1:${await program.waitForPort()}`;
}

async function waitUntilReady(address: string): Promise<void> {
  await waitUntil(
    async () => (await fetch(`${address}/-/ready`)).status,
    (status) => status === 200,
  );
}

/** The values of a family, by service code. */
function readValues(exposition: string, family: string): ReadonlyMap<string, number> {
  const lines = exposition.matchAll(new RegExp(`^${family}(?:\\{service_code="([^"]*)"\\})? (\\S+)$`, 'gm'));
  return new Map([...lines].map(([, code = '', value]) => [code, Number(value)]));
}

/** Starts this number of shards together and returns the service codes in `xvs_up` of each. */
async function findOwners(count: number, url: string): Promise<ReadonlyMap<string, number>> {
  const programs = Array.from({ length: count }, (_, index) =>
    startProgram(createShardArgs(index, count), createSettings(url)),
  );
  try {
    const owners = new Map<string, number>();
    for (const [index, program] of programs.entries()) {
      const address = await waitForAddress(program);
      await waitUntilReady(address);
      const text = await waitUntil(
        async () => (await fetch(`${address}/metrics`)).text(),
        (exposition) => [...readValues(exposition, 'xvs_up').values()].every((value) => value === 1),
      );
      const up = readValues(text, 'xvs_up');
      assert.deepEqual(readValues(text, 'xvs_exporter_shards').get(''), count);
      assert.deepEqual(readValues(text, 'xvs_exporter_shard').get(''), index);
      assert.deepEqual(readValues(text, 'xvs_exporter_service_codes').get(''), up.size);
      for (const code of up.keys()) {
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
  'four processes poll each code once, and a fifth one takes over a fifth of them',
  { timeout: 600_000 },
  async () => {
    await using service = await startService(CODES);
    const four = await findOwners(4, service.url);
    assert.deepEqual([...four.keys()].toSorted(), CODES.toSorted());
    const five = await findOwners(5, service.url);
    assert.deepEqual([...five.keys()].toSorted(), CODES.toSorted());
    const moved = CODES.filter((code) => four.get(code) !== five.get(code));
    assert.deepEqual([...new Set(moved.map((code) => five.get(code)))], [4]);
    // 12 are expected; with a fair hash, fewer than 4 or more than 20 occur once in a hundred times.
    assert.ok(moved.length >= 4 && moved.length <= 20, `${moved.length} moved`);
  },
);

test('a shard names the shard that polls a requested code of another shard', async () => {
  const codes = ['A', 'B', 'C', 'D'];
  await using service = await startService(codes);
  await using program = startProgram(createShardArgs(0, 2), createSettings(service.url, codes));
  const address = await waitForAddress(program);
  await waitUntilReady(address);
  const other = codes.find((code) => selectShard(code, 2) === 1) ?? '';
  const own = codes.find((code) => selectShard(code, 2) === 0) ?? '';
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

test('once without service codes prints an exposition, and with --explain only a warning', async () => {
  const empty = createShardArgs(1 - selectShard('A', 2), 2);
  const nowhere = createSettings('http://127.0.0.1:1', ['A']);
  await using once = startProgram(['once', ...empty], nowhere);
  assert.equal(await once.exitCode, 0, once.stderr);
  assert.match(once.stdout, /^xvs_exporter_service_codes 0$/m);
  await using explained = startProgram(['once', '--explain', ...empty], nowhere);
  assert.equal(await explained.exitCode, 0, explained.stderr);
  assert.match(explained.stderr, /^No service codes to poll: shard \d of 2 has none\.\n$/);
});

test('shards 1, 2 and 1 again with the same state count no byte twice', async () => {
  const codes = CODES.slice(0, 8);
  await using service = await startService(codes);
  using folder = new TemporaryFolder();
  const env = { ...createSettings(service.url, codes), XVS_STATE_PATH: folder.at('state') };
  /** Runs a process for two listings of each code; returns what the state and then the process had counted. */
  const runOnce = async (index: number, count: number) => {
    await using program = startProgram([...createShardArgs(index, count), '--log.level=debug'], env);
    const address = await waitForAddress(program);
    const read = async () => readInputBytes(await (await fetch(`${address}/metrics`)).text());
    const restored = await read();
    await waitUntilReady(address);
    const counted = await read();
    program.signal('SIGTERM');
    assert.equal(await program.exitCode, 0, program.stderr);
    return { restored: new Set(restored.keys()), counted };
  };
  const own = new Set(codes.filter((code) => selectShard(code, 2) === 0));
  assert.deepEqual((await runOnce(0, 1)).restored, new Set());
  assert.deepEqual((await runOnce(0, 2)).restored, own);
  // The codes that the other shard has counted meanwhile start at 0.
  const last = await runOnce(0, 1);
  assert.deepEqual(last.restored, own);
  for (const [code, bytes] of last.counted) if (!own.has(code)) assert.equal(bytes, 0, code);
});

/** The input bytes that were counted, by service code. */
function readInputBytes(exposition: string): ReadonlyMap<string, number> {
  const sums = new Map<string, number>();
  const lines = exposition.matchAll(/^xvs_input_bytes_total\{service_code="([^"]*)"[^}]*\} (\S+)$/gm);
  for (const [, code = '', value] of lines) sums.set(code, (sums.get(code) ?? 0) + Number(value));
  return sums;
}
