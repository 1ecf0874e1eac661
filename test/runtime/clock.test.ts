import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '../src/clock.ts';

test('what is due already is waited for without a warning', async () => {
  const warnings: Error[] = [];
  const note = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', note);
  await systemClock.sleep(-1.5);
  // Warnings come a turn later.
  await systemClock.sleep(1);
  process.off('warning', note);
  assert.deepEqual(warnings, []);
});

test('a sleep that is aborted rejects with the reason, and leaves nothing on the signal', async () => {
  const ending = new AbortController();
  const reason = new Error('No more');
  const sleep = systemClock.sleep(60_000, ending.signal);
  ending.abort(reason);
  await assert.rejects(sleep, reason);
  await assert.rejects(systemClock.sleep(60_000, ending.signal), reason);
  assert.deepEqual(getEventListeners(ending.signal, 'abort'), []);
});

test('a sleep that ends leaves nothing on the signal', async () => {
  const { signal } = new AbortController();
  await systemClock.sleep(1, signal);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});
