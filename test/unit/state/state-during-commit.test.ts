import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runInTurns } from '../../../src/runtime/concurrency.ts';
import { nodeFileSystem } from '../../../src/state/file-system.ts';
import { saveTally } from '../../../src/state/saved-code.ts';
import { writeState } from '../../../src/state/write-state.ts';
import type { PendingCommit } from '../../../src/tally/pending-commit.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import {
  beginCommitOfNext,
  commitNext,
  createHookedFileSystem,
  entriesOf,
  HEADER,
  inputBytesIn,
  loadState,
  tallyOf,
} from './state-fixtures.ts';

const TASKS = 2000;
/** After this number of steps, a commit of `TASKS` tasks has updated about half of its accounts. */
const STEPS = 20;

/** Creates a tally whose second listing is half committed. */
function startCommit(): { readonly tally: Tally; readonly commit: PendingCommit } {
  const tally = tallyOf('TESTING', TASKS);
  const commit = beginCommitOfNext(tally, TASKS);
  for (let step = 0; step < STEPS; step += 1) assert.equal(commit.next().done, false);
  assert.deepEqual([tally.isCommitting, tally.listings], [true, 1]);
  return { tally, commit };
}

test('a state saved during a commit contains the complete listing', () => {
  const { tally, commit } = startCommit();
  const saved = saveTally(tally);
  const expected = tallyOf('TESTING', TASKS);
  commitNext(expected, TASKS);
  assert.deepEqual(saved, saveTally(expected));
  assert.equal(tally.isCommitting, false);
  assert.deepEqual(commit.next(), { done: true, value: commit.complete() });
});

test('the journal never contains totals of half a listing', () => {
  const { tally } = startCommit();
  const totals = tally.exportPublishedTotals('all');
  const expected = tallyOf('TESTING', TASKS);
  commitNext(expected, TASKS);
  assert.deepEqual(totals, expected.exportPublishedTotals('all'));
});

test('a snapshot waits for a commit that runs in steps', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  const { tally, commit } = startCommit();
  const committed = runInTurns(commit, 100);
  await writeState(nodeFileSystem, path, HEADER, [tally]);
  await committed;
  const { tallies } = await loadState(path);
  assert.deepEqual(inputBytesIn(tallies.get('TESTING')), [2000]);
  assert.deepEqual(entriesOf(tallies.get('TESTING')).length, entriesOf(tally).length);
});

test('a snapshot contains a complete listing that is committed during the write', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  const tally = tallyOf('TESTING', TASKS);
  let committed: Promise<unknown> | undefined;
  const files = createHookedFileSystem((operation) => {
    if (operation === 'write') committed ??= runInTurns(beginCommitOfNext(tally, TASKS), 100);
  });
  await writeState(files, path, HEADER, [tally]);
  await committed;
  const { tallies } = await loadState(path);
  assert.deepEqual(inputBytesIn(tallies.get('TESTING')), [2000]);
});
