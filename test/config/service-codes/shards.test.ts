import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from '../../src/config/command-line.ts';
import { ConfigurationSource } from '../../src/config/configuration-source.ts';
import { summary } from '../../src/config/summary.ts';
import { shardOf } from '../../src/sharding/rendezvous.ts';
import { load, loadedFrom, messageOf, filesFrom, SECRET, type Case } from '../support/configuration.ts';
import { noHostName } from '../support/no-host-name.ts';

const CODES = Array.from({ length: 20 }, (_, number) => `code-${number}`);
const ENV = {
  XVS_UPSTREAM_BASE_URL: 'https://live.example.com',
  XVS_SERVICE_CODES: CODES.join(','),
  XVS_SECRET: SECRET,
};
const codesOf = (index: number, count: number): readonly string[] =>
  CODES.filter((code) => shardOf(code, count) === index);

test('a shard polls its codes, and knows which ones are polled elsewhere', async () => {
  const args = ['--shard.count=4', '--shard.index=1'];
  const { shard, serviceCodes, elsewhere } = await load({ env: ENV, args });
  assert.deepEqual(shard, { index: 1, count: 4 });
  assert.deepEqual(
    serviceCodes.map(({ serviceCode }) => serviceCode),
    codesOf(1, 4),
  );
  assert.deepEqual([...elsewhere], [0, 2, 3].flatMap((index) => codesOf(index, 4)).toSorted(byNumber));
});

function byNumber(one: string, other: string): number {
  return CODES.indexOf(one) - CODES.indexOf(other);
}

test('without an index it is the ordinal of the host, which nobody asks for otherwise', async () => {
  const shardFor = async (given: Case) => (await load({ env: ENV, ...given })).shard;
  const hostName = 'xvs-exporter-3';
  assert.deepEqual(await shardFor({ args: ['--shard.count=4'], hostName }), { index: 3, count: 4 });
  assert.deepEqual(await shardFor({ args: ['--shard.count=4', '--shard.index=0'] }), { index: 0, count: 4 });
  assert.deepEqual(await shardFor({ args: ['--shard.count=1'] }), { index: 0, count: 1 });
  assert.deepEqual(await shardFor({ args: ['--shard.index=0'] }), { index: 0, count: 1 });
});

const REMEDY = 'set shard.index in the file, XVS_SHARD_INDEX or --shard.index';
const MISTAKES: readonly (readonly [name: string, given: Case, message: string])[] = [
  [
    'a host without an ordinal',
    { args: ['--shard.count=4'], hostName: 'web' },
    `host name: expected one that ends in the index of the shard, -0 to -3, found "web"; ${REMEDY}`,
  ],
  [
    'a host beyond the count',
    { args: ['--shard.count=4'], hostName: 'xvs-exporter-4' },
    `host name: expected one that ends in the index of the shard, -0 to -3, found "xvs-exporter-4"; ${REMEDY}`,
  ],
  [
    'an index beyond the count',
    { args: ['--shard.count=4'], yml: 'shard: { index: 4 }' },
    '/etc/xvs.yml:1:17 shard.index: expected an index below shard.count, which is 4, found 4',
  ],
  [
    'an index without a count',
    { args: ['--shard.index=1'] },
    'flag --shard.index: expected an index below shard.count, which is 1, found 1',
  ],
  [
    'no shard at all, and too many',
    { env: { ...ENV, XVS_SHARD_COUNT: '0' }, args: ['--shard.count=1001', '--shard.index=-1'] },
    'environment variable XVS_SHARD_COUNT: expected a whole number from 1 to 1000, found "0"\n' +
      'flag --shard.count: expected a whole number from 1 to 1000, found "1001"\n' +
      'flag --shard.index: expected a whole number from 0 to 999, found "-1"',
  ],
];

for (const [name, given, expected] of MISTAKES) {
  test(`refused: ${name}`, async () => {
    assert.equal(await messageOf(() => load({ env: ENV, ...given })), expected);
  });
}

test('codes of other shards are checked as well, their secret files are not read', async () => {
  const [own = ''] = codesOf(0, 4);
  const [other = ''] = codesOf(1, 4);
  const args = ['--shard.count=4', '--shard.index=0'];
  const env = { XVS_UPSTREAM_BASE_URL: ENV.XVS_UPSTREAM_BASE_URL };
  const entry = (code: string, more: string): string => `  - { service_code: ${code}, ${more} }\n`;
  const files = { '/etc/own': SECRET };
  const mine = entry(own, 'secret_file: own');
  const good = `service_codes:\n${mine}${entry(other, 'secret_file: not-there')}`;
  const { serviceCodes } = await load({ yml: good, env, args, files });
  assert.deepEqual(
    serviceCodes.map(({ serviceCode, secret }) => [serviceCode, secret]),
    [[own, SECRET]],
  );
  const bad = [
    entry(other, 'secret: a, secret_file: b'),
    entry(other, 'interval: 1ms, secret: a'),
    `  - ${other}\n`,
    mine,
  ];
  for (const line of bad) {
    const yml = `service_codes:\n${mine}${line}`;
    assert.match(await messageOf(() => load({ yml, env, args, files })), /^\/etc\/xvs\.yml:3:/, line);
  }
  const whole = await messageOf(() => load({ yml: good, env, files }));
  assert.match(whole, /found "\/etc\/not-there", which does not exist$/);
});

test('a shard may have no code', async () => {
  const [code = ''] = CODES;
  const args = ['--shard.count=2', `--shard.index=${1 - shardOf(code, 2)}`];
  const { serviceCodes, elsewhere } = await load({ env: { ...ENV, XVS_SERVICE_CODES: code }, args });
  assert.deepEqual([serviceCodes, elsewhere], [[], new Set([code])]);
});

test('the summary says how many codes the shard has', async () => {
  const args = ['--shard.count=4', '--shard.index=1'];
  const text = summary(await loadedFrom({ env: ENV, args }));
  const own = codesOf(1, 4);
  const [head] = text.split('\n');
  assert.equal(head, `The configuration is valid: ${own.length} of 20 service codes, those of shard 1 of 4.`);
  const [, table = ''] = text.split('\nService codes:\n');
  assert.deepEqual(table.match(/code-\d+/g), own);
});

test('another shard holds from a restart on', async () => {
  const files: Record<string, string> = { '/etc/xvs.yml': 'shard: { count: 2, index: 0 }' };
  const source = new ConfigurationSource({
    flags: parseCommandLine(['--config.file=/etc/xvs.yml']).flags,
    env: ENV,
    hostName: noHostName,
    ...filesFrom(files),
  });
  const started = await source.load();
  files['/etc/xvs.yml'] = 'shard: { count: 3, index: 2 }';
  const again = await source.load();
  assert.deepEqual(again.configuration, started.configuration);
  assert.deepEqual(again.needRestart, ['shard.count', 'shard.index']);
  files['/etc/xvs.yml'] = 'shard: { count: 3, index: 3 }';
  await assert.rejects(source.load(), /expected an index below shard\.count, which is 3, found 3/);
});
