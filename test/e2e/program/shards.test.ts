import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectShard } from '../../../src/sharding/shard.ts';
import { SETTINGS, startProgram } from '../../support/program.ts';
import { waitForValue } from '../../support/wait-until.ts';
import { startPausableService } from './pausable-service.ts';
import { RunningExporter } from './running-exporter.ts';

const createSettings = (url: string, codes: readonly string[]): Record<string, string> => ({
  ...SETTINGS,
  XVS_UPSTREAM_BASE_URL: url,
  XVS_SERVICE_CODES: codes.join(','),
  XVS_POLL_INTERVAL: '1s',
});

const createShardArgs = (index: number, count: number): string[] => [
  `--shard.index=${index}`,
  `--shard.count=${count}`,
];

test('a shard names the shard that polls a requested code of another shard', async (t) => {
  const codes = ['A', 'B', 'C', 'D'];
  const service = await startPausableService(t);
  await using program = startProgram(createShardArgs(0, 2), createSettings(service.url, codes));
  const address = `http://127.0.0.1:${await program.waitForPort()}`;
  const other = codes.find((code) => selectShard(code, 2) === 1) ?? '';
  const own = codes.find((code) => selectShard(code, 2) === 0) ?? '';
  const exporter = await RunningExporter.attach(program);
  await waitForValue(() => exporter.fetchStatus('/-/ready'), 200);
  const answers: readonly (readonly [path: string, status: number, text: RegExp])[] = [
    [`/metrics?service_code=${own}`, 200, /^xvs_up\{/m],
    [`/metrics?service_code=${other}`, 404, /^Shard 1 polls this service code; this is shard 0 of 2\.\n$/],
    [
      `/service-codes/?service_code=${other}`,
      404,
      /^Shard 1 polls this service code; this is shard 0 of 2\.\n$/,
    ],
    ['/metrics?service_code=unknown', 404, /^No such service code is configured\.\n$/],
    ['/', 200, / \(shard 0 of 2\)/],
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
