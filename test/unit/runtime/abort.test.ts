import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { linkAbort, raceAbort, waitForAbort } from '../../../src/runtime/abort.ts';
import { deferred } from '../../support/deferred.ts';

const REASON = new Error('ended');

test('a linked signal aborts with the outer signal and for the same reason', () => {
  const outer = new AbortController();
  const linked = linkAbort(outer.signal);
  outer.abort(REASON);
  assert.equal(linked.signal.reason, REASON);
  assert.equal(linkAbort(outer.signal).signal.reason, REASON);
});

test('a linked signal that aborts by itself does not abort the outer signal', () => {
  const outer = new AbortController();
  const linked = linkAbort(outer.signal);
  linked.abort(REASON);
  assert.equal(linked.signal.reason, REASON);
  assert.equal(outer.signal.aborted, false);
});

test('disposal aborts a linked signal and leaves no listener on the outer one', () => {
  const outer = new AbortController();
  const linked = linkAbort(outer.signal);
  linked[Symbol.dispose]();
  assert.deepEqual(getEventListeners(outer.signal, 'abort'), []);
  outer.abort(REASON);
  assert.equal(linked.signal.aborted, true);
  assert.notEqual(linked.signal.reason, REASON);
});

test('a race settles with a promise that settles before the abort, and leaves no listener', async () => {
  const { signal } = new AbortController();
  assert.equal(await raceAbort(Promise.resolve(1), signal), 1);
  await assert.rejects(raceAbort(Promise.reject(REASON), signal), REASON);
  assert.deepEqual(getEventListeners(signal, 'abort'), []);
});

test('a race rejects with the reason of an abort and ignores a later rejection', async () => {
  const controller = new AbortController();
  const { promise, resolve } = deferred();
  const losing = promise.then(() => assert.fail('later'));
  const race = raceAbort(losing, controller.signal);
  controller.abort(REASON);
  await assert.rejects(race, REASON);
  await assert.rejects(raceAbort(losing, controller.signal), REASON);
  resolve();
  // An unhandled rejection would end the test process here.
  await yieldToEventLoop();
});

test('waiting for an abort resolves when the signal aborts, and if it has aborted before', async () => {
  const controller = new AbortController();
  const waiting = waitForAbort(controller.signal);
  controller.abort();
  await waiting;
  await waitForAbort(controller.signal);
});
