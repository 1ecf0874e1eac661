import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Loop } from '../src/loop.ts';
import { ManualClock } from './support/manual-clock.ts';

test('a loop runs until it is disposed of, and its end by then is no failure', async () => {
  const clock = new ManualClock(0);
  const failures: unknown[] = [];
  const loop = new Loop(
    async (signal) => {
      for (;;) await clock.sleep(1000, signal);
    },
    (error) => failures.push(error),
  );
  assert.equal(clock.sleepers, 1);
  await loop[Symbol.asyncDispose]();
  assert.deepEqual([clock.sleepers, failures], [0, []]);
});

test('what a loop rejects with by itself is a failure, even as it is to end', async () => {
  const mistake = new TypeError('Expected a function');
  const failures: unknown[] = [];
  const failed = (error: unknown): unknown => failures.push(error);
  await new Loop(() => Promise.reject(mistake), failed)[Symbol.asyncDispose]();
  const late = new Loop(async (signal) => {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    throw mistake;
  }, failed);
  await late[Symbol.asyncDispose]();
  await nextTurn();
  assert.deepEqual(failures, [mistake, mistake]);
});
