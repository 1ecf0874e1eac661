import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pick, type Choices } from '../../src/simulator/hash.ts';
import * as repertoire from '../../src/simulator/repertoire.ts';

const choices: Readonly<Record<string, Choices<unknown>>> = {
  taskCycles: repertoire.taskCycles,
  servers: repertoire.servers,
  clientVersions: repertoire.clientVersions,
  deviceTypes: repertoire.deviceTypes,
  sourcePictures: repertoire.sourcePictures,
  layouts: repertoire.layouts,
  mergedLayouts: repertoire.mergedLayouts,
  inputCounts: repertoire.inputCounts,
  inputSources: repertoire.inputSources,
  ...repertoire.peakConnections,
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
  const coin: Choices<string> = [
    ['heads', 25],
    ['tails', 75],
  ];
  assert.equal(pick(coin, 0), 'heads');
  assert.equal(pick(coin, 2 ** 30 - 1), 'heads');
  assert.equal(pick(coin, 2 ** 30), 'tails');
  assert.equal(pick(coin, 2 ** 32 - 1), 'tails');
});
