import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue, GaveWayError } from '../../../src/web/fair-queue.ts';

/** A queue of one task at a time, which records the tasks that start and ends them one by one. */
function createQueue(maxWaiting: number) {
  const queue = new FairQueue({ maxRunning: 1, maxWaiting });
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (client: string, name = client, signal?: AbortSignal): Promise<string> => {
    const result = queue.run(client, signal, async () => {
      started.push(name);
      await new Promise<void>((resolve) => ends.push(resolve));
      return name;
    });
    // Rejections are asserted later.
    result.catch(() => undefined);
    return result;
  };
  const endAll = async (): Promise<void> => {
    for (let turn = 0; turn < 100; turn += 1) {
      ends.shift()?.();
      await Promise.resolve();
    }
  };
  return { run, started, endAll };
}

test('tasks run one at a time, and clients take turns', async () => {
  const { run, started, endAll } = createQueue(10);
  const many = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
  const one = run('b');
  await endAll();
  assert.deepEqual(await Promise.all([...many, one]), ['a1', 'a2', 'a3', 'a4', 'b']);
  assert.deepEqual(started, ['a1', 'a2', 'b', 'a3', 'a4']);
});

test('if too many wait, the oldest of the client with the most gives way', async () => {
  const { run, started, endAll } = createQueue(3);
  const [, second] = ['a1', 'a2', 'a3', 'a4'].map((name) => run('a', name));
  const one = run('b');
  await assert.rejects(second ?? one, GaveWayError);
  await endAll();
  assert.equal(await one, 'b');
  assert.deepEqual(started.toSorted(), ['a1', 'a3', 'a4', 'b']);
});

test('a task whose client disconnects while it waits never runs', async () => {
  const { run, started, endAll } = createQueue(3);
  const first = run('a', 'a1');
  const client = new AbortController();
  const second = run('a', 'a2', client.signal);
  client.abort();
  await assert.rejects(second, { name: 'AbortError' });
  await endAll();
  await first;
  assert.deepEqual(started, ['a1']);
});

test('a task that fails passes its place on', async () => {
  const queue = new FairQueue({ maxRunning: 1, maxWaiting: 1 });
  const failed = queue.run('a', undefined, () => Promise.reject(new Error('no memory')));
  const next = queue.run('a', undefined, () => Promise.resolve('done'));
  await assert.rejects(failed, /no memory/);
  assert.equal(await next, 'done');
});
