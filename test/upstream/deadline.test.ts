import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAbort, startDeadline } from '../../src/upstream/deadline.ts';

const ENDED = new Error('ended');

test('what settles before the signal aborts comes through, and leaves nothing on the signal', async () => {
  const { signal } = new AbortController();
  assert.equal(await beforeAbort(Promise.resolve(1), signal), 1);
  await assert.rejects(beforeAbort(Promise.reject(ENDED), signal), ENDED);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('a signal that aborts first, or has aborted, is what it comes to; what fails later goes unheeded', async () => {
  const controller = new AbortController();
  const { promise, fail } = failing();
  const waiting = beforeAbort(promise, controller.signal);
  controller.abort(ENDED);
  await assert.rejects(waiting, ENDED);
  await assert.rejects(beforeAbort(failing().promise, controller.signal), ENDED);
  fail(new Error('later'));
  // An unheeded rejection would end the test's process here.
  await nextTurn();
});

test('a deadline follows the outer signal, and takes its listener back when it is disposed of', () => {
  const outer = new AbortController();
  const past = startDeadline(60_000, outer.signal);
  past[Symbol.dispose]();
  assert.deepEqual(getEventListeners(outer.signal, 'abort'), []);
  const deadline = startDeadline(60_000, outer.signal);
  outer.abort(ENDED);
  assert.equal(deadline.signal.reason, ENDED);
  assert.equal(past.signal.aborted, false);
  deadline[Symbol.dispose]();
});

function failing(): { readonly promise: Promise<never>; readonly fail: (error: Error) => void } {
  let fail = (_error: Error): void => undefined;
  const promise = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  return { promise, fail };
}
