import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatHelp } from '../../../src/commands/help.ts';
import { listSettings, toEnvironmentName, toFlagName } from '../../../src/config/settings.ts';
import { assertGolden } from '../../support/fixtures.ts';

test('the help matches the settings', () => {
  assertGolden('config/help.txt', formatHelp());
});

test('the help fits into 100 columns', () => {
  assert.deepEqual(
    formatHelp()
      .split('\n')
      .filter((line) => line.length > 100),
    [],
  );
});

test('the help has the flag and the variable of every setting, but no flag for the secret', () => {
  const help = formatHelp();
  for (const [path, { excludedSource }] of listSettings()) {
    assert.equal(help.includes(`${toFlagName(path)}=`), excludedSource !== 'flag', path);
    assert.match(help, new RegExp(`\\b${toEnvironmentName(path)}\\b`));
  }
});
