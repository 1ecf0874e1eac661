import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatConfigurationSummary } from '../../../../src/config/summary.ts';
import { selectShard } from '../../../../src/sharding/shard.ts';
import {
  loadConfiguration,
  loadWithSources,
  catchConfigErrorMessage,
  createSource,
  SECRET,
  type ConfigurationInput,
} from '../../../support/configuration.ts';

const CODES = Array.from({ length: 20 }, (_, number) => `code-${number}`);
const ENV = {
  XVS_UPSTREAM_BASE_URL: 'https://live.example.com',
  XVS_SERVICE_CODES: CODES.join(','),
  XVS_SECRET: SECRET,
};
const codesOf = (index: number, count: number): readonly string[] =>
  CODES.filter((code) => selectShard(code, count) === index);

test('a shard has its own codes, also in the summary, and the names of those on other shards', async () => {
  const loaded = await loadWithSources({ env: ENV, args: ['--shard.count=4', '--shard.index=1'] });
  const { shard, serviceCodes, codesOnOtherShards } = loaded.configuration;
  const own = codesOf(1, 4);
  assert.deepEqual(shard, { index: 1, count: 4 });
  assert.deepEqual(
    serviceCodes.map(({ serviceCode }) => serviceCode),
    own,
  );
  assert.deepEqual(codesOnOtherShards, new Set(CODES.filter((code) => !own.includes(code))));
  const [head, ...rest] = formatConfigurationSummary(loaded).split('\n');
  assert.equal(head, `The configuration is valid: ${own.length} of 20 service codes, for shard 1 of 4.`);
  assert.deepEqual(
    rest
      .join('\n')
      .split('\nService codes:\n')[1]
      ?.match(/code-\d+/g),
    own,
  );
});

test('the default index is the ordinal of the host name, which is not read otherwise', async () => {
  const shardFor = async (given: ConfigurationInput) =>
    (await loadConfiguration({ env: ENV, ...given })).shard;
  const hostName = 'xvs-exporter-3';
  assert.deepEqual(await shardFor({ args: ['--shard.count=4'], hostName }), { index: 3, count: 4 });
  assert.deepEqual(await shardFor({ args: ['--shard.count=4', '--shard.index=0'] }), { index: 0, count: 4 });
  assert.deepEqual(await shardFor({ args: ['--shard.count=1'] }), { index: 0, count: 1 });
  assert.deepEqual(await shardFor({ args: ['--shard.index=0'] }), { index: 0, count: 1 });
});

const REMEDY = 'set shard.index in the file, XVS_SHARD_INDEX or --shard.index';
const MISTAKES: readonly (readonly [name: string, given: ConfigurationInput, message: string])[] = [
  [
    'a host without an ordinal',
    { args: ['--shard.count=4'], hostName: 'web' },
    `host name: expected a name that ends in the index of the shard, -0 to -3, found "web"; ${REMEDY}`,
  ],
  [
    'an index beyond the count',
    { args: ['--shard.count=4'], yml: 'shard: { index: 4 }' },
    '/etc/xvs.yml:1:17 shard.index: expected an index below shard.count, which is 4, found 4',
  ],
  [
    'zero shards and too many shards',
    { env: { ...ENV, XVS_SHARD_COUNT: '0' }, args: ['--shard.count=1001', '--shard.index=-1'] },
    'environment variable XVS_SHARD_COUNT: expected an integer from 1 to 1000, found 0\n' +
      'flag --shard.count: expected an integer from 1 to 1000, found 1001\n' +
      'flag --shard.index: expected an integer from 0 to 999, found "-1"',
  ],
];

for (const [name, given, expected] of MISTAKES) {
  test(`rejected: ${name}`, async () => {
    assert.equal(await catchConfigErrorMessage(() => loadConfiguration({ env: ENV, ...given })), expected);
  });
}

test('codes of other shards are checked, but their secret files are not read', async () => {
  const [own = ''] = codesOf(0, 4);
  const [other = ''] = codesOf(1, 4);
  const args = ['--shard.count=4', '--shard.index=0'];
  const env = { XVS_UPSTREAM_BASE_URL: ENV.XVS_UPSTREAM_BASE_URL };
  const entry = (code: string, more: string): string => `  - { service_code: ${code}, ${more} }\n`;
  const files = { '/etc/own': SECRET };
  const mine = entry(own, 'secret_file: own');
  const good = `service_codes:\n${mine}${entry(other, 'secret_file: not-there')}`;
  const { serviceCodes } = await loadConfiguration({ yml: good, env, args, files });
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
    assert.match(
      await catchConfigErrorMessage(() => loadConfiguration({ yml, env, args, files })),
      /^\/etc\/xvs\.yml:3:/,
      line,
    );
  }
  const whole = await catchConfigErrorMessage(() => loadConfiguration({ yml: good, env, files }));
  assert.match(whole, /service_codes\[1\]\.secret_file: .*, found "\/etc\/not-there", which does not exist$/);
});

test('a changed shard needs a restart', async () => {
  const files: Record<string, string> = { '/etc/xvs.yml': 'shard: { count: 2, index: 0 }' };
  const source = createSource({ env: ENV, files, args: ['--config.file=/etc/xvs.yml'] });
  const started = await source.load();
  files['/etc/xvs.yml'] = 'shard: { count: 3, index: 2 }';
  const again = await source.load();
  assert.deepEqual(again.configuration, started.configuration);
  assert.deepEqual(again.settingsNeedingRestart, ['shard.count', 'shard.index']);
  files['/etc/xvs.yml'] = 'shard: { count: 3, index: 3 }';
  await assert.rejects(source.load(), /expected an index below shard\.count, which is 3, found 3/);
});
