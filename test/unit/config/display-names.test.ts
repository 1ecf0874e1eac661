import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  catchConfigErrorMessage,
  loadConfiguration,
  REQUIRED_ENVIRONMENT,
  type ConfigurationInput,
} from '../../support/configuration.ts';

const load = (input: ConfigurationInput) =>
  loadConfiguration({ ...input, env: { ...REQUIRED_ENVIRONMENT, ...input.env } });

test('the file names device types and client versions by value', async () => {
  const yml =
    'display:\n  device_types: { "10": iPhone, 11: "iPad, Pro" }\n  client_versions: { "451": 4.5.1 }\n';
  const { display } = await load({ yml });
  assert.deepEqual(
    [...display.deviceTypes],
    [
      ['10', 'iPhone'],
      ['11', 'iPad, Pro'],
    ],
  );
  assert.deepEqual([...display.clientVersions], [['451', '4.5.1']]);
});

test('a variable and a flag name them in pairs', async () => {
  const { display } = await load({
    env: { XVS_DISPLAY_DEVICE_TYPES: '10=iPhone, 11=iPad = Pro' },
    args: ['--display.client-versions=451=4.5.1', '--display.client-versions=450=4.5'],
  });
  assert.deepEqual(
    [...display.deviceTypes],
    [
      ['10', 'iPhone'],
      ['11', 'iPad = Pro'],
    ],
  );
  assert.deepEqual(
    [...display.clientVersions],
    [
      ['450', '4.5'],
      ['451', '4.5.1'],
    ],
  );
});

const MISTAKES: readonly (readonly [string, string])[] = [
  [
    '[iPhone]',
    '1:26 display.device_types: expected a mapping of label values to names such as { "10": iPhone }, found a list',
  ],
  [
    'iPhone',
    '1:26 display.device_types: expected a mapping of label values to names such as { "10": iPhone }, found "iPhone"',
  ],
  [
    '{ "10": 7 }',
    '1:34 display.device_types.10: expected a name of 1 to 64 characters, found 7; put it in quotes',
  ],
  ['{ "10": "" }', '1:34 display.device_types.10: expected a name of 1 to 64 characters, found ""'],
];

for (const [value, expected] of MISTAKES) {
  test(`display.device_types rejects ${value}`, async () => {
    const yml = `display: { device_types: ${value} }`;
    assert.equal(await catchConfigErrorMessage(() => load({ yml })), `/etc/xvs.yml:${expected}`);
  });
}
