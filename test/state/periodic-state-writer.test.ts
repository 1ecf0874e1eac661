import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { machineFiles, type FileSystem } from '../../src/state/file-system.ts';
import { StateKeeper } from '../../src/state/state-keeper.ts';
import type { Tally } from '../../src/tally/tally.ts';
import { recordedLog, type LogLine } from '../poller/polling.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { commitNext, deferred, diskFull, Folder, hookedFiles, load, NOW_MS, tallyOf } from './keeping.ts';

const INTERVAL_MS = 60_000;

/** A keeper whose time the test moves; `outcomes` is what its metrics were told. */
class Keeping implements AsyncDisposable {
  readonly folder = new Folder();
  readonly path = this.folder.file();
  readonly clock = new ManualClock(NOW_MS);
  readonly tallies: Tally[] = [tallyOf('A', 3)];
  readonly outcomes: string[] = [];
  readonly keeper: StateKeeper;
  readonly lines: readonly LogLine[];
  /** What becomes of the loop. */
  readonly end: Promise<unknown>;
  #next = deferred();

  constructor(files: FileSystem = machineFiles) {
    const { logger, lines } = recordedLog();
    const tell = (outcome: string): void => {
      this.outcomes.push(outcome);
      this.#next.resolve();
    };
    this.lines = lines;
    this.keeper = new StateKeeper({
      path: this.path,
      intervalMs: INTERVAL_MS,
      files,
      tallies: () => this.tallies,
      metrics: { written: () => tell('written'), failed: () => tell('failed') },
      clock: this.clock,
      logger,
    });
    this.end = this.keeper.start().catch((error: unknown) => error);
  }

  /** Lets an interval pass, and waits for what becomes of the write that is due then. */
  async pass(): Promise<void> {
    this.#next = deferred();
    this.clock.advance(INTERVAL_MS);
    await this.#next.promise;
    // It sleeps again before the next turn of the loop.
    await new Promise(setImmediate);
  }

  async listings(): Promise<number | undefined> {
    return (await load(this.path)).tallies.get('A')?.listings;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.keeper[Symbol.asyncDispose]();
    this.folder[Symbol.dispose]();
  }
}

const messages = (lines: readonly LogLine[]): string[] => lines.map(({ level, msg }) => `${level} ${msg}`);

test('the state is written at each interval, with the tallies of that moment, and once more at the end', async () => {
  await using keeping = new Keeping();
  const [tally = tallyOf('A', 3)] = keeping.tallies;
  assert.deepEqual(readdirSync(keeping.folder.path), []);
  await keeping.pass();
  assert.equal(await keeping.listings(), 1);
  commitNext(tally, 3);
  keeping.tallies.push(tallyOf('B', 3));
  await keeping.pass();
  assert.equal(await keeping.listings(), 2);
  assert.deepEqual([...(await load(keeping.path)).tallies.keys()], ['A', 'B']);
  commitNext(tally, 3);
  await keeping.keeper[Symbol.asyncDispose]();
  assert.equal(await keeping.listings(), 3);
  assert.equal(keeping.clock.sleepers, 0);
});

test('one that was never started writes nothing at its end', async () => {
  using folder = new Folder();
  const { logger } = recordedLog();
  const keeper = new StateKeeper({
    path: folder.file(),
    intervalMs: INTERVAL_MS,
    files: machineFiles,
    tallies: () => [tallyOf('A', 3)],
    metrics: { written: () => undefined, failed: () => undefined },
    clock: new ManualClock(NOW_MS),
    logger,
  });
  await keeper[Symbol.asyncDispose]();
  assert.deepEqual(readdirSync(folder.path), []);
});

test('a disk that is full is told once, and once more when it is not; each time counts', async () => {
  let isFull = false;
  const files = hookedFiles(() => {
    if (isFull) throw diskFull();
  });
  await using keeping = new Keeping(files);
  for (const full of [false, true, true, false, false]) {
    isFull = full;
    await keeping.pass();
  }
  assert.deepEqual(keeping.outcomes, ['written', 'failed', 'failed', 'written', 'written']);
  assert.deepEqual(messages(keeping.lines), [
    'debug State written',
    'warn State not written',
    'debug State not written',
    'info State written',
    'debug State written',
  ]);
});

test('at the end, a write that is under way is waited for: there are never two', async () => {
  const release = deferred();
  const begun = deferred();
  let [open, most] = [0, 0];
  const files: FileSystem = {
    ...machineFiles,
    open: async (path, flags, mode) => {
      const file = await machineFiles.open(path, flags, mode);
      if (flags !== 'wx') return file;
      open += 1;
      most = Math.max(most, open);
      begun.resolve();
      await release.promise;
      const close = file.close.bind(file);
      return Object.assign(file, {
        close: () => {
          open -= 1;
          return close();
        },
      });
    },
  };
  await using keeping = new Keeping(files);
  keeping.clock.advance(INTERVAL_MS);
  await begun.promise;
  const ended = keeping.keeper[Symbol.asyncDispose]();
  await new Promise(setImmediate);
  assert.equal(open, 1);
  release.resolve();
  await ended;
  assert.deepEqual([keeping.outcomes, most], [['written', 'written'], 1]);
});

test('a mistake of the program is no trouble of the disk: it ends the loop', async () => {
  const files = hookedFiles(() => {
    throw new TypeError('a mistake');
  });
  const { logger } = recordedLog();
  using folder = new Folder();
  const clock = new ManualClock(NOW_MS);
  const keeper = new StateKeeper({
    path: folder.file(),
    intervalMs: INTERVAL_MS,
    files,
    tallies: () => [],
    metrics: { written: () => undefined, failed: () => undefined },
    clock,
    logger,
  });
  const end = keeper.start();
  clock.advance(INTERVAL_MS);
  await assert.rejects(end, /a mistake/);
});
