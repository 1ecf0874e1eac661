import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TurnGate } from '../../../src/upstream/turn-gate.ts';

test('each piece of work has a turn of its own, in order', async () => {
  const gate = new TurnGate();
  const done: string[] = [];
  const all = Promise.all(['a', 'b', 'c'].map((name) => gate.run(() => done.push(name))));
  let seen = 0;
  while (done.length < 3) {
    await nextTurn();
    assert.ok(done.length - seen <= 1);
    seen = done.length;
  }
  assert.deepEqual(done, ['a', 'b', 'c']);
  await all;
});

test('work that fails rejects, and the next one is done', async () => {
  const gate = new TurnGate();
  const fail = (): never => {
    throw new Error('failed');
  };
  await assert.rejects(gate.run(fail), /failed/);
  assert.equal(await gate.run(() => 1), 1);
});
