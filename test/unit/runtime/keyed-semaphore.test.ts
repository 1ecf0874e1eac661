import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { KeyedSemaphore } from '../../../src/runtime/keyed-semaphore.ts';

const signal = new AbortController().signal;

/** Runs tasks that end when the test finishes them. */
function createTasks(semaphore: KeyedSemaphore) {
  const running = new Map<string, () => void>();
  const run = (task: string, key = 'A', taskSignal = signal): Promise<void> => {
    const start = () => new Promise<void>((resolve) => running.set(task, resolve));
    return semaphore.run(key, start, taskSignal).finally(() => running.delete(task));
  };
  const finish = async (task: string): Promise<void> => {
    running.get(task)?.();
    await nextTurn();
  };
  return { run, finish, listRunning: () => [...running.keys()].join('') };
}

test('tasks up to the limit run at a time, the others start in order', async () => {
  const { run, finish, listRunning } = createTasks(new KeyedSemaphore(2));
  const tasks = ['a', 'b', 'c', 'd'].map((task) => run(task));
  await nextTurn();
  assert.equal(listRunning(), 'ab');
  await finish('b');
  assert.equal(listRunning(), 'ac');
  await finish('c');
  assert.equal(listRunning(), 'ad');
  await finish('d');
  await finish('a');
  await Promise.all(tasks);
});

test('a task added while a slot is released does not overtake a waiting task', async () => {
  const { run, finish, listRunning } = createTasks(new KeyedSemaphore(1));
  const first = run('a');
  const second = run('b');
  await nextTurn();
  const finished = finish('a');
  const third = run('c');
  await finished;
  assert.equal(listRunning(), 'b');
  await finish('b');
  assert.equal(listRunning(), 'c');
  await finish('c');
  await Promise.all([first, second, third]);
});

test('each key has its own limit', async () => {
  const { run, finish, listRunning } = createTasks(new KeyedSemaphore(1));
  const tasks = [run('a', 'A'), run('b', 'B'), run('c', 'B')];
  await nextTurn();
  assert.equal(listRunning(), 'ab');
  for (const task of 'abc') await finish(task);
  await Promise.all(tasks);
});

test('a failed task rejects its call and releases its slot', async () => {
  const semaphore = new KeyedSemaphore(1);
  const error = new TypeError('Expected a function');
  const failed = semaphore.run('A', () => Promise.reject(error), signal);
  const next = semaphore.run('A', () => Promise.resolve(), signal);
  await assert.rejects(failed, error);
  await next;
});

test('an abort removes a waiting task, and a task with an aborted signal does not start', async () => {
  const { run, finish, listRunning } = createTasks(new KeyedSemaphore(1));
  const abort = new AbortController();
  const tasks = [run('a'), run('c')];
  const aborted = assert.rejects(run('b', 'A', abort.signal), { name: 'AbortError' });
  abort.abort();
  await aborted;
  await assert.rejects(run('d', 'A', abort.signal), { name: 'AbortError' });
  await finish('a');
  assert.equal(listRunning(), 'c');
  await finish('c');
  await Promise.all(tasks);
});

test('an aborted call waits for the end of its running task', async () => {
  const { run, finish } = createTasks(new KeyedSemaphore(1));
  const abort = new AbortController();
  let hasEnded = false;
  const aborted = assert.rejects(
    run('a', 'A', abort.signal).finally(() => (hasEnded = true)),
    { name: 'AbortError' },
  );
  await nextTurn();
  abort.abort();
  await nextTurn();
  assert.equal(hasEnded, false);
  await finish('a');
  await aborted;
});

test('a key can be used again after it was idle', async () => {
  const { run, finish, listRunning } = createTasks(new KeyedSemaphore(1));
  for (const task of 'ab') {
    const done = run(task);
    await nextTurn();
    assert.equal(listRunning(), task);
    await finish(task);
    await done;
  }
});

test('a new limit applies immediately, and running tasks continue', async () => {
  const semaphore = new KeyedSemaphore(1);
  const { run, finish, listRunning } = createTasks(semaphore);
  const tasks = [...'abcde'].map((task) => run(task));
  await nextTurn();
  semaphore.limit = 3;
  await nextTurn();
  assert.equal(listRunning(), 'abc');
  semaphore.limit = 1;
  await finish('b');
  await finish('c');
  assert.equal(listRunning(), 'a');
  await finish('a');
  assert.equal(listRunning(), 'd');
  await finish('d');
  await finish('e');
  await Promise.all(tasks);
});
