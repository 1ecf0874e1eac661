import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FairQueue, FairShare, GaveWayError, type Share } from '../../../src/web/fair-share.ts';

interface Entry extends Share {
  readonly name: string;
}

/** Adds entries such as `a1`, whose first character is the client; `!` marks busy ones. Returns those that gave way. */
function addAll(names: string, limit: number) {
  const share = new FairShare<Entry>(limit, ({ name }) => !name.endsWith('!'));
  const gaveWay = names.split(' ').map((name) => share.add({ client: name.slice(0, 1), name })?.name);
  return { share, gaveWay: gaveWay.filter((name) => name !== undefined) };
}

for (const [names, expected] of [
  ['a1 a2 a3', ''],
  ['a1 a2 a3 a4', 'a1'],
  ['a1 b1 b2 b3', 'b1'],
  ['a1 b1 b2 c1', 'b1'],
  ['a1 b1! b2 b3', 'b2'],
  ['a1 b1! b2! b3!', 'a1'],
  ['a1! b1! b2! b3', 'b3'],
  ['a1! b1! b2! b3!', 'b1!'],
  ['a1 b1 c1 d1 d2', 'a1 d1'],
] as const) {
  test(`of at most three entries, ${names} take ${expected || 'nothing'} away`, () => {
    const { share, gaveWay } = addAll(names, 3);
    assert.equal(gaveWay.join(' '), expected);
    assert.deepEqual(
      share.entries.map(({ name }) => name).toSorted(),
      names.split(' ').filter((name) => !gaveWay.includes(name)),
    );
  });
}

test('an entry that is added again is the newest of its client', () => {
  const { share } = addAll('a1 a2', 9);
  const [first] = share.entries;
  assert.ok(first !== undefined);
  share.add(first);
  assert.equal(share.evict(() => true)?.name, 'a2');
});

test('clients take turns, each with its oldest entry first', () => {
  const { share } = addAll('a1 a2 a3 b1 c1 b2', 9);
  const order = [];
  for (let entry = share.takeTurn(); entry !== undefined; entry = share.takeTurn()) order.push(entry.name);
  // The client that was active last has its turn last.
  assert.deepEqual(order, ['a1', 'c1', 'b1', 'a2', 'b2', 'a3']);
});

/** A queue of one task at a time, which records the tasks that start and ends them one by one. */
function createQueue(maxWaiting: number) {
  const queue = new FairQueue({ maxRunning: 1, maxWaiting });
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (name: string, signal?: AbortSignal): Promise<string> => {
    const result = queue.run(name.slice(0, 1), signal, async () => {
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
  const results = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name));
  await endAll();
  assert.deepEqual(await Promise.all(results), ['a1', 'a2', 'a3', 'a4', 'b1']);
  assert.deepEqual(started, ['a1', 'a2', 'b1', 'a3', 'a4']);
});

test('if too many tasks wait, the oldest of the client with the most gives way', async () => {
  const { run, started, endAll } = createQueue(3);
  const [, second = run('b0')] = ['a1', 'a2', 'a3', 'a4', 'b1'].map((name) => run(name));
  await assert.rejects(second, GaveWayError);
  await endAll();
  assert.deepEqual(started, ['a1', 'a3', 'b1', 'a4']);
});

test('a task whose client disconnects while it waits never runs', async () => {
  const { run, started, endAll } = createQueue(3);
  const first = run('a1');
  const client = new AbortController();
  const second = run('a2', client.signal);
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
