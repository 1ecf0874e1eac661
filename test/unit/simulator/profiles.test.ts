import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickWeighted, type WeightedChoices } from '../../../src/simulator/hash.ts';
import * as profiles from '../../../src/simulator/profiles.ts';

const choices: Readonly<Record<string, WeightedChoices<unknown>>> = {
  taskCycles: profiles.TASK_CYCLE_RANGES_MS,
  servers: profiles.SERVERS,
  clientVersions: profiles.CLIENT_VERSIONS,
  deviceTypes: profiles.DEVICE_TYPES,
  sourcePictures: profiles.SOURCE_RESOLUTIONS,
  layouts: profiles.OUTPUT_LAYOUTS,
  inputCounts: profiles.INPUT_COUNTS,
  inputSources: profiles.INPUT_URL_PREFIXES,
  ...profiles.PEAK_CONNECTIONS,
};

for (const [name, choice] of Object.entries(choices)) {
  test(`the weights of ${name} add up to 100`, () => {
    assert.equal(
      choice.reduce((sum, [, weight]) => sum + weight, 0),
      100,
    );
  });
}

test('a choice is made in proportion to its weights', () => {
  const coin: WeightedChoices<string> = [
    ['heads', 25],
    ['tails', 75],
  ];
  assert.equal(pickWeighted(coin, 0), 'heads');
  assert.equal(pickWeighted(coin, 2 ** 30 - 1), 'heads');
  assert.equal(pickWeighted(coin, 2 ** 30), 'tails');
  assert.equal(pickWeighted(coin, 2 ** 32 - 1), 'tails');
});
