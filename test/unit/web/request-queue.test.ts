import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deferred } from '../../support/deferred.ts';
import { QueueFullError, RequestQueue } from '../../../src/web/request-queue.ts';

/**
 * A queue of one task at a time, whose tasks run when `open` is called. Their first character is the client.
 */
function createQueue(maxWaiting: number) {
  const queue = new RequestQueue({ maxRunning: 1, maxWaiting });
  const { promise, resolve: open } = deferred();
  const started: string[] = [];
  const run = async (name: string): Promise<string> => {
    try {
      return await queue.run(name.slice(0, 1), async () => {
        started.push(name);
        await promise;
        return name;
      });
    } catch (error) {
      assert.ok(error instanceof QueueFullError);
      return 'rejected';
    }
  };
  return { run, started, open };
}

test('at most two tasks of one client wait, and tasks run in the order of their arrival', async () => {
  const { run, started, open } = createQueue(10);
  const results = ['a1', 'a2', 'a3', 'a4', 'b1', 'a5', 'c1'].map(run);
  open();
  assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'a3', 'rejected', 'b1', 'rejected', 'c1']);
  assert.deepEqual(started, ['a1', 'a2', 'a3', 'b1', 'c1']);
  assert.equal(await run('a6'), 'a6');
});

test('a full queue rejects tasks of every client', async () => {
  const { run, open } = createQueue(2);
  const results = ['a1', 'a2', 'b1', 'c1'].map(run);
  open();
  assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'b1', 'rejected']);
});

test('a task that fails passes its place on', async () => {
  const queue = new RequestQueue({ maxRunning: 1, maxWaiting: 1 });
  const failed = queue.run('a', () => Promise.reject(new Error('no memory')));
  const next = queue.run('a', () => Promise.resolve('done'));
  await assert.rejects(failed, /no memory/);
  assert.equal(await next, 'done');
});
