import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { nodeFileSystem, type FileSystem } from '../../../src/state/file-system.ts';
import { PeriodicStateWriter } from '../../../src/state/periodic-state-writer.ts';
import { writeState } from '../../../src/state/write-state.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { deferred } from '../../support/deferred.ts';
import { createRecordingLogger, type LogLine } from '../../support/recording-logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import {
  commitNext,
  HEADER,
  createDiskFullError,
  filesWithWriteHook,
  loadState,
  NOW_MS,
  tallyOf,
} from './state-fixtures.ts';

const INTERVAL_MS = 60_000;

/** A state writer with a manual clock; `outcomes` has an entry for each recorded write. */
class WriterHarness implements AsyncDisposable {
  readonly folder = new TemporaryFolder();
  readonly path = this.folder.at('state');
  readonly clock = new ManualClock(NOW_MS);
  readonly tallies: Tally[] = [tallyOf('A', 3)];
  readonly outcomes: string[] = [];
  readonly writer: PeriodicStateWriter;
  readonly lines: readonly LogLine[];
  /** Resolves with the error that ended the loop. */
  readonly end: Promise<unknown>;
  #next = deferred();

  constructor(files: FileSystem = nodeFileSystem) {
    const { logger, lines } = createRecordingLogger();
    const record = (outcome: string): void => {
      this.outcomes.push(outcome);
      this.#next.resolve();
    };
    this.lines = lines;
    this.writer = new PeriodicStateWriter({
      path: this.path,
      intervalMs: INTERVAL_MS,
      write: () => writeState(files, this.path, HEADER, this.tallies),
      metrics: { recordWrite: () => record('written'), recordWriteError: () => record('failed') },
      clock: this.clock,
      logger,
    });
    this.end = this.writer.start().catch((error: unknown) => error);
  }

  /** Advances the clock by an interval and waits until the write that is due has ended. */
  async passInterval(): Promise<void> {
    this.#next = deferred();
    this.clock.advance(INTERVAL_MS);
    await this.#next.promise;
    // The writer starts its next sleep.
    await new Promise(setImmediate);
  }

  async listings(): Promise<number | undefined> {
    return (await loadState(this.path)).tallies.get('A')?.listings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.writer[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

const messages = (lines: readonly LogLine[]): string[] => lines.map(({ level, msg }) => `${level} ${msg}`);

test('the current tallies are written at each interval and on disposal', async () => {
  await using harness = new WriterHarness();
  const [tally = tallyOf('A', 3)] = harness.tallies;
  assert.deepEqual(readdirSync(harness.folder.path), []);
  await harness.passInterval();
  assert.equal(await harness.listings(), 1);
  commitNext(tally, 3);
  harness.tallies.push(tallyOf('B', 3));
  await harness.passInterval();
  assert.equal(await harness.listings(), 2);
  assert.deepEqual([...(await loadState(harness.path)).tallies.keys()], ['A', 'B']);
  commitNext(tally, 3);
  await harness.writer[Symbol.asyncDispose]();
  assert.equal(await harness.listings(), 3);
  assert.equal(harness.clock.sleeperCount, 0);
});

test('a writer that was not started writes nothing on disposal', async () => {
  using folder = new TemporaryFolder();
  const { logger } = createRecordingLogger();
  const writer = new PeriodicStateWriter({
    path: folder.at('state'),
    intervalMs: INTERVAL_MS,
    write: () => Promise.reject(new Error('Expected no write')),
    metrics: { recordWrite: () => undefined, recordWriteError: () => undefined },
    clock: new ManualClock(NOW_MS),
    logger,
  });
  await writer[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(folder.path), []);
});

test('a full disk is logged once as a warning and its recovery once; every write is counted', async () => {
  let isFull = false;
  const files = filesWithWriteHook(() => {
    if (isFull) throw createDiskFullError();
  });
  await using harness = new WriterHarness(files);
  for (const full of [false, true, true, false, false]) {
    isFull = full;
    await harness.passInterval();
  }
  assert.deepEqual(harness.outcomes, ['written', 'failed', 'failed', 'written', 'written']);
  assert.deepEqual(messages(harness.lines), [
    'debug State written',
    'warn State write failed',
    'debug State write failed',
    'info State written',
    'debug State written',
  ]);
});

test('disposal waits for a write in progress and then writes a last time', async () => {
  const release = deferred();
  const started = deferred();
  let [openCount, maxOpenCount] = [0, 0];
  const files: FileSystem = {
    ...nodeFileSystem,
    open: async (path, flags, mode) => {
      const file = await nodeFileSystem.open(path, flags, mode);
      if (flags !== 'wx') return file;
      openCount += 1;
      maxOpenCount = Math.max(maxOpenCount, openCount);
      started.resolve();
      await release.promise;
      const close = file.close.bind(file);
      return Object.assign(file, {
        close: () => {
          openCount -= 1;
          return close();
        },
      });
    },
  };
  await using harness = new WriterHarness(files);
  harness.clock.advance(INTERVAL_MS);
  await started.promise;
  const disposed = harness.writer[Symbol.asyncDispose]();
  await new Promise(setImmediate);
  assert.equal(openCount, 1);
  release.resolve();
  await disposed;
  assert.deepEqual([harness.outcomes, maxOpenCount], [['written', 'written'], 1]);
});

test('an error that is not from the file system ends the loop', async () => {
  const files = filesWithWriteHook(() => {
    throw new TypeError('a bug');
  });
  const { logger } = createRecordingLogger();
  using folder = new TemporaryFolder();
  const clock = new ManualClock(NOW_MS);
  const writer = new PeriodicStateWriter({
    path: folder.at('state'),
    intervalMs: INTERVAL_MS,
    write: () => writeState(files, folder.at('state'), HEADER, []),
    metrics: { recordWrite: () => undefined, recordWriteError: () => undefined },
    clock,
    logger,
  });
  const end = writer.start();
  clock.advance(INTERVAL_MS);
  await assert.rejects(end, /a bug/);
});
