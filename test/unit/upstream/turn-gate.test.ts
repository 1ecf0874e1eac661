import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnGate } from '../../../src/upstream/turn-gate.ts';

test('work beyond 5 ms of a turn waits for the next turns, in order', async () => {
  let nowMs = 0;
  const gate = new TurnGate({ monotonic: () => nowMs });
  const done: string[] = [];
  const all = Promise.all(
    ['a', 'b', 'c', 'd', 'e'].map((name) =>
      gate.run(() => {
        nowMs += 3;
        done.push(name);
      }),
    ),
  );
  const seen: string[] = [done.join('')];
  for (let turn = 0; turn < 2; turn += 1) {
    await nextTurn();
    seen.push(done.join(''));
  }
  assert.deepEqual(seen, ['ab', 'abcd', 'abcde']);
  await all;
});

test('work that fails rejects, and the next one is done', async () => {
  const gate = new TurnGate({ monotonic: () => 0 });
  const fail = (): never => {
    throw new Error('failed');
  };
  await assert.rejects(gate.run(fail), /failed/);
  assert.equal(await gate.run(() => 1), 1);
});
