import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickWeighted, type WeightedChoices } from '../../../src/simulator/hash.ts';

test('a choice is made in proportion to its weights', () => {
  const coin: WeightedChoices<string> = [
    ['heads', 1],
    ['tails', 3],
  ];
  assert.equal(pickWeighted(coin, 0), 'heads');
  assert.equal(pickWeighted(coin, 2 ** 30 - 1), 'heads');
  assert.equal(pickWeighted(coin, 2 ** 30), 'tails');
  assert.equal(pickWeighted(coin, 2 ** 32 - 1), 'tails');
});
