import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { BackgroundTask, FirstFailure } from '../../../src/runtime/background-task.ts';
import { ManualClock } from '../../support/manual-clock.ts';

test('a task runs until it is disposed of, and its abort is not a failure', async () => {
  const clock = new ManualClock(0);
  const failures: unknown[] = [];
  const task = new BackgroundTask(
    async (signal) => {
      for (;;) await clock.sleep(1000, signal);
    },
    (error) => failures.push(error),
  );
  assert.equal(clock.sleeperCount, 1);
  await task[Symbol.asyncDispose]();
  assert.deepEqual([clock.sleeperCount, failures], [0, []]);
});

test('a task that rejects with another error has failed, even if it has been aborted', async () => {
  const bug = new TypeError('Expected a function');
  const failures: unknown[] = [];
  const onFailure = (error: unknown): unknown => failures.push(error);
  await new BackgroundTask(() => Promise.reject(bug), onFailure)[Symbol.asyncDispose]();
  const late = new BackgroundTask(async (signal) => {
    await new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
    });
    throw bug;
  }, onFailure);
  await late[Symbol.asyncDispose]();
  await yieldToEventLoop();
  assert.deepEqual(failures, [bug, bug]);
});

test('the first reported failure rejects, and later ones are ignored', async () => {
  const failure = new FirstFailure();
  const [first, second] = [new Error('first'), new Error('second')];
  failure.report(first);
  failure.report(second);
  await assert.rejects(failure.promise, first);
});
