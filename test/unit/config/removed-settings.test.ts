import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseCommandLine } from '../../../src/commands/command-line.ts';
import { ConfigError } from '../../../src/config/config-error.ts';
import { REMOVED_SETTINGS } from '../../../src/config/removed-settings.ts';
import { isSettingPath, toEnvironmentName, toFlagName } from '../../../src/config/settings.ts';
import { catchConfigErrorMessage, loadConfiguration } from '../../support/configuration.ts';

for (const [key, replacement] of REMOVED_SETTINGS) {
  const message = `expected a known setting, found one that was removed; ${replacement}`;

  test(`the removed setting ${key} is rejected in the file, the environment and on the command line`, async () => {
    assert.ok(!isSettingPath(key), `${key} is a setting`);
    const [group = '', name] = key.split(/\.(.*)/s);
    const yml = name === undefined ? `${group}: 1` : `${group}:\n  ${name.replaceAll('.', ':\n    ')}: 1`;
    const fromFile = await catchConfigErrorMessage(() => loadConfiguration({ yml }));
    assert.ok(fromFile.endsWith(`${key}: ${message}`), fromFile);
    const variable = toEnvironmentName(key);
    assert.equal(
      await catchConfigErrorMessage(() => loadConfiguration({ env: { [variable]: '1' } })),
      `environment variable ${variable}: ${message}`,
    );
    for (const args of [[`${toFlagName(key)}=1`], [toFlagName(key), '1']])
      assert.throws(
        () => parseCommandLine(args),
        (error) => error instanceof ConfigError && error.message === `flag ${toFlagName(key)}: ${message}`,
      );
  });
}
