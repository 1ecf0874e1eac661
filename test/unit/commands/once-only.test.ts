import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from '../../../src/commands/command-line.ts';
import { selectServiceCodes } from '../../../src/commands/once.ts';
import { catchConfigErrorMessage, loadConfiguration, SECRET } from '../../support/configuration.ts';

const env = {
  XVS_UPSTREAM_BASE_URL: 'https://live.example.com',
  XVS_SECRET: SECRET,
  XVS_SERVICE_CODES: 'ARENA,CAMPUS,MUSEUM',
};

async function select(args: readonly string[], variables: Readonly<Record<string, string>> = env) {
  const configuration = await loadConfiguration({ env: variables });
  const selected = selectServiceCodes(configuration, parseCommandLine(args, { only: 'list' }).others);
  return selected.serviceCodes.map(({ serviceCode }) => serviceCode);
}

test('once polls all service codes, or those that --only names', async () => {
  assert.deepEqual(await select([]), ['ARENA', 'CAMPUS', 'MUSEUM']);
  assert.deepEqual(await select(['--only=MUSEUM', '--only=ARENA']), ['ARENA', 'MUSEUM']);
});

test('--only rejects service codes that are not configured', async () => {
  assert.equal(
    await catchConfigErrorMessage(() => select(['--only=MUSEUMS', '--only=ARENA'])),
    'flag --only: expected a configured service code, found "MUSEUMS"; --config.check lists them',
  );
});

test('--only reports that another shard polls a service code', async () => {
  const sharded = { ...env, XVS_SHARD_COUNT: '2', XVS_SHARD_INDEX: '0' };
  const own = await select([], sharded);
  const other = ['ARENA', 'CAMPUS', 'MUSEUM'].find((code) => !own.includes(code));
  assert.match(
    await catchConfigErrorMessage(() => select([`--only=${other}`], sharded)),
    /found "\w+"; another shard polls it; set shard\.count to 1$/,
  );
});
