import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { watchFiles } from '../../../src/config/file-watcher.ts';
import { ManualClock } from '../../support/manual-clock.ts';

/** Watches a stub of files; `loaded` is what the last load has read. */
function startWatcher(t: TestContext) {
  const clock = new ManualClock(0);
  const state = { files: 'old', loaded: 'old', isWatched: true, reloads: [] as number[] };
  const source = {
    get isWatched(): boolean {
      return state.isWatched;
    },
    get loadedFingerprint(): string {
      return state.loaded;
    },
    computeFingerprint: () => Promise.resolve(state.files),
  };
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const onChange = (): Promise<void> => {
    state.reloads.push(clock.now());
    state.loaded = state.files;
    return Promise.resolve();
  };
  const ended = assert.rejects(watchFiles({ source, clock, onChange }, stop.signal), reason);
  t.after(async () => {
    stop.abort(reason);
    await ended;
    assert.equal(clock.sleeperCount, 0);
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      clock.advance(1000);
      await nextTurn();
    }
  };
  return { state, pass };
}

test('unchanged files are not reloaded', async (t) => {
  const { state, pass } = startWatcher(t);
  await pass(60);
  assert.deepEqual(state.reloads, []);
});

test('a changed file is reloaded after it has not changed for one second', async (t) => {
  const { state, pass } = startWatcher(t);
  await pass(7);
  state.files = 'new';
  await pass(60);
  assert.deepEqual(state.reloads, [11_000]);
});

test('a file is not reloaded while it is being written', async (t) => {
  const { state, pass } = startWatcher(t);
  await pass(4);
  for (const piece of ['n', 'ne', 'new']) {
    state.files = piece;
    await pass(1);
  }
  await pass(60);
  assert.deepEqual([state.reloads, state.loaded], [[8000], 'new']);
});

test('a file that changes back is not reloaded', async (t) => {
  const { state, pass } = startWatcher(t);
  state.files = 'new';
  await pass(5);
  state.files = 'old';
  await pass(60);
  assert.deepEqual(state.reloads, []);
});

test('a change that another reload has loaded is not reloaded again', async (t) => {
  const { state, pass } = startWatcher(t);
  state.files = 'new';
  await pass(5);
  state.loaded = 'new';
  await pass(60);
  assert.deepEqual(state.reloads, []);
});

test('every change is reloaded, one after the other', async (t) => {
  const { state, pass } = startWatcher(t);
  for (const text of ['one', 'two', 'three']) {
    state.files = text;
    await pass(10);
    assert.equal(state.loaded, text);
  }
  assert.equal(state.reloads.length, 3);
});

test('changes are ignored until the source is watched', async (t) => {
  const { state, pass } = startWatcher(t);
  state.isWatched = false;
  state.files = 'new';
  await pass(60);
  assert.deepEqual(state.reloads, []);
  state.isWatched = true;
  await pass(10);
  assert.equal(state.reloads.length, 1);
});
