import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mapYielding, runInTurns } from '../../../src/runtime/concurrency.ts';

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

test('runInTurns returns the result, and yields to the event loop when steps have handled enough items', async () => {
  let turn = 0;
  let isDone = false;
  const countTurn = (): void => {
    turn += 1;
    if (!isDone) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const turns: number[] = [];
  function* job() {
    for (const items of [4, 6, 1, 1, 20, 0]) {
      turns.push(turn);
      yield items;
    }
    return 'done';
  }
  assert.equal(await runInTurns(job(), 10), 'done');
  isDone = true;
  const [first = 0, second, third = 0, , fifth, sixth = 0] = turns;
  assert.deepEqual([second, fifth], [first, third]);
  assert.ok(third > first && sixth > third, `Expected later turns, found ${turns.join(' ')}`);
});
