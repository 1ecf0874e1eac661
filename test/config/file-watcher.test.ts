import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { watchFiles } from '../../src/config/file-watch.ts';
import { ManualClock } from '../support/manual-clock.ts';

/** Files of one text; `loaded` is what was read of them the last time. */
function watched(t: TestContext) {
  const clock = new ManualClock(0);
  const state = { files: 'old', loaded: 'old', isWatched: true, reloads: [] as number[] };
  const source = {
    get isWatched(): boolean {
      return state.isWatched;
    },
    get read(): string {
      return state.loaded;
    },
    look: () => Promise.resolve(state.files),
  };
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const changed = (): Promise<void> => {
    state.reloads.push(clock.now());
    state.loaded = state.files;
    return Promise.resolve();
  };
  const ended = assert.rejects(watchFiles({ source, clock, changed }, stop.signal), reason);
  t.after(async () => {
    stop.abort(reason);
    await ended;
    assert.equal(clock.sleepers, 0);
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      clock.advance(1000);
      await nextTurn();
    }
  };
  return { state, pass };
}

test('files that stay as they are are not loaded again', async (t) => {
  const { state, pass } = watched(t);
  await pass(60);
  assert.deepEqual(state.reloads, []);
});

test('a file that changed is loaded once it has stood still for a second', async (t) => {
  const { state, pass } = watched(t);
  await pass(7);
  state.files = 'new';
  await pass(60);
  assert.deepEqual(state.reloads, [11_000]);
});

test('a file that is being written is left alone until it is whole', async (t) => {
  const { state, pass } = watched(t);
  await pass(4);
  for (const piece of ['n', 'ne', 'new']) {
    state.files = piece;
    await pass(1);
  }
  await pass(60);
  assert.deepEqual([state.reloads, state.loaded], [[8000], 'new']);
});

test('a file that is as before when it has settled is not loaded', async (t) => {
  const { state, pass } = watched(t);
  state.files = 'new';
  await pass(5);
  state.files = 'old';
  await pass(60);
  assert.deepEqual(state.reloads, []);
});

test('what somebody else has loaded meanwhile is not loaded again', async (t) => {
  const { state, pass } = watched(t);
  state.files = 'new';
  await pass(5);
  state.loaded = 'new';
  await pass(60);
  assert.deepEqual(state.reloads, []);
});

test('every change is loaded, one after the other', async (t) => {
  const { state, pass } = watched(t);
  for (const text of ['one', 'two', 'three']) {
    state.files = text;
    await pass(10);
    assert.equal(state.loaded, text);
  }
  assert.equal(state.reloads.length, 3);
});

test('where nobody wants it nothing is loaded, until somebody does', async (t) => {
  const { state, pass } = watched(t);
  state.isWatched = false;
  state.files = 'new';
  await pass(60);
  assert.deepEqual(state.reloads, []);
  state.isWatched = true;
  await pass(10);
  assert.equal(state.reloads.length, 1);
});
