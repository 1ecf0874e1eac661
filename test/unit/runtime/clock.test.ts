import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { systemClock } from '../../../src/runtime/clock.ts';

test('a sleep of negative time ends without a warning', async () => {
  const warnings: Error[] = [];
  const record = (warning: Error): void => {
    warnings.push(warning);
  };
  process.on('warning', record);
  await systemClock.sleep(-1.5);
  // Warnings are emitted asynchronously.
  await systemClock.sleep(1);
  process.off('warning', record);
  assert.deepEqual(warnings, []);
});

test('an aborted sleep rejects with the reason, and no sleep leaves a listener on the signal', async () => {
  const controller = new AbortController();
  const reason = new Error('Stopped');
  await systemClock.sleep(1, controller.signal);
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
  const sleep = systemClock.sleep(60_000, controller.signal);
  controller.abort(reason);
  await assert.rejects(sleep, reason);
  await assert.rejects(systemClock.sleep(60_000, controller.signal), reason);
  assert.deepEqual(getEventListeners(controller.signal, 'abort'), []);
});
