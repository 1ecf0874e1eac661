import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { boundFileSystem } from '../../../src/config/local-file-system.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const TIMED_OUT = { code: 'ETIMEDOUT' };

/** A file system on which a read of `/hung/…` stays pending until the test completes it. */
function createFileSystem() {
  const clock = new ManualClock(0);
  const hung = deferred<string>();
  const reads: string[] = [];
  const readFile = (path: string): Promise<string> => {
    reads.push(path);
    return path.startsWith('/hung/') ? hung.promise : Promise.resolve(`text of ${path}`);
  };
  const files = boundFileSystem(
    { readFile, listFolder: () => Promise.resolve([]), readStamp: readFile },
    clock,
  );
  return { clock, files, hung, reads };
}

test('a call that hangs fails after five seconds, and others run meanwhile', async () => {
  const { clock, files, hung } = createFileSystem();
  const first = assert.rejects(files.readFile('/hung/a'), TIMED_OUT);
  assert.equal(await files.readFile('/good'), 'text of /good');
  clock.advance(4999);
  assert.equal(files.isHanging(), false);
  clock.advance(1);
  await first;
  assert.equal(files.isHanging(), true);
  assert.equal(await files.readFile('/good'), 'text of /good');
  hung.resolve('late');
  await nextTurn();
  assert.equal(files.isHanging(), false);
  assert.equal(clock.sleeperCount, 0);
});

test('calls that hang occupy at most two threads; while both do, further calls fail at once', async () => {
  const { clock, files, hung, reads } = createFileSystem();
  const calls = ['a', 'b', 'c', 'd', 'e'].map((name) =>
    assert.rejects(files.readFile(`/hung/${name}`), TIMED_OUT),
  );
  await nextTurn();
  assert.deepEqual(reads, ['/hung/a', '/hung/b']);
  clock.advance(5000);
  await Promise.all(calls);
  await assert.rejects(files.readStamp('/good'), TIMED_OUT);
  assert.deepEqual(reads, ['/hung/a', '/hung/b']);
  hung.resolve('late');
  await nextTurn();
  assert.equal(await files.readFile('/good'), 'text of /good');
});

test('many calls run in their order', async () => {
  const { clock, files, reads } = createFileSystem();
  const paths = Array.from({ length: 100 }, (_, index) => `/good/${index}`);
  const texts = await Promise.all(paths.map(files.readFile));
  assert.equal(texts.join(), paths.map((path) => `text of ${path}`).join());
  assert.deepEqual(reads, paths);
  assert.equal(clock.sleeperCount, 0);
});

test('the error of a call passes unchanged, and leaves its thread to others', async () => {
  const error = Object.assign(new Error('no'), { code: 'ENOENT' });
  const fail = () => Promise.reject(error);
  const failing = { readFile: fail, listFolder: fail, readStamp: fail };
  const files = boundFileSystem(failing, new ManualClock(0));
  for (let call = 0; call < 3; call += 1) await assert.rejects(files.listFolder('/folder'), error);
});
