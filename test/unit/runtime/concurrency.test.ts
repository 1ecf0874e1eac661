import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapYielding } from '../../../src/runtime/concurrency.ts';

const numbers = Array.from({ length: 100 }, (_, number) => number);

test('mapYielding keeps the order and yields to the event loop after every batch', async () => {
  let turns = 0;
  let isMapped = false;
  const countTurn = (): void => {
    turns += 1;
    if (!isMapped) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const turnsByItem = await mapYielding(numbers, (number) => [number, turns] as const, 25);
  isMapped = true;
  assert.deepEqual(
    turnsByItem.map(([number]) => number),
    numbers,
  );
  const turnsOfBatches = [0, 25, 50, 75].map((start) => turnsByItem[start]?.[1]);
  assert.equal(new Set(turnsOfBatches).size, 4);
  assert.equal(turnsByItem[24]?.[1], turnsByItem[0]?.[1]);
});
