import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { startDeadline } from '../../../src/upstream/deadline.ts';

test('a deadline follows the outer signal until it is disposed of, and then leaves no listener on it', () => {
  const outer = new AbortController();
  const reason = new Error('ended');
  const disposed = startDeadline(60_000, outer.signal);
  disposed[Symbol.dispose]();
  assert.deepEqual(getEventListeners(outer.signal, 'abort'), []);
  using deadline = startDeadline(60_000, outer.signal);
  outer.abort(reason);
  assert.equal(deadline.signal.reason, reason);
  assert.notEqual(disposed.signal.reason, reason);
});
