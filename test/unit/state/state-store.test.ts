import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DatabaseError } from '../../../src/state/level-database.ts';
import { readInstant } from '../../../src/runtime/instant.ts';
import { StateStore } from '../../../src/state/state-store.ts';
import { sumColumn } from '../../../src/listing/rows.ts';
import { RecordListing } from '../../support/record-listing.ts';
import { deferred } from '../../support/deferred.ts';
import { createDefaultTally } from '../../support/default-tally.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryDisk } from '../../support/memory-disk.ts';
import { buildTaskRecord } from '../../support/record-builders.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';
import { START_MS } from '../../support/tally-run.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const STEP_MS = 15_000;
const RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
const DISK_FULL = new DatabaseError('failing', 'IO error: No space left on device');

interface ProcessOptions {
  readonly serviceCodes?: readonly string[];
  readonly codesOnOtherShards?: readonly string[];
  readonly atMs?: number;
}

/** Starts a process that persists its tallies on a disk. */
async function startProcess(disk: MemoryDisk, options: ProcessOptions = {}) {
  const { serviceCodes = ['A'], codesOnOtherShards = [], atMs = 0 } = options;
  const clock = new ManualClock(START_MS + atMs);
  const { logger, lines } = createRecordingLogger();
  using folder = new TemporaryFolder();
  const store = await StateStore.open(
    { path: folder.path, clock, logger, open: disk.open },
    {
      createTally: (serviceCode) =>
        serviceCodes.includes(serviceCode) ? createDefaultTally(serviceCode) : undefined,
      codesOnOtherShards: new Set(codesOnOtherShards),
    },
  );
  const tallies = new Map(
    serviceCodes.map((code) => [code, store.tallies.get(code) ?? createDefaultTally(code)]),
  );
  return {
    store,
    clock,
    tallies,
    messages: () => lines.filter(({ level }) => level !== 'debug').map(({ level, msg }) => `${level} ${msg}`),
    /** The input bytes that a service code has counted; `undefined` before its first listing. */
    count: (serviceCode = 'A') => {
      const tally = tallies.get(serviceCode);
      if (tally === undefined || tally.listings === 0) return undefined;
      return sumColumn(tally.collectCounts().rows.accounts.columns.inputBytes);
    },
    /** Commits a listing with one task. Resolves when it can be published. */
    publish: (inputBytes: number, serviceCode = 'A', id = 'task') => {
      clock.advance(STEP_MS);
      const tally = tallies.get(serviceCode) ?? assert.fail(`Expected ${serviceCode} to be configured`);
      const listing = new RecordListing();
      listing.addTask(buildTaskRecord({ id, inputBytes }));
      const { records } = tally.commit(listing.listing, readInstant(clock));
      return store.write(serviceCode, records);
    },
  };
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn += 1) await nextTurn();
}

test('a listing is published when it is written', async () => {
  const disk = new MemoryDisk();
  const { store, publish } = await startProcess(disk);
  const hang = deferred();
  disk.hang = hang.promise;
  let isPublishable = false;
  const published = publish(1000).then(() => {
    isPublishable = true;
  });
  await settle();
  assert.equal(isPublishable, false);
  hang.resolve();
  await published;
  assert.deepEqual([store.statistics.delayedPublications, disk.records.size], [0, 3]);
});

test('commits of the same turn are written together', async () => {
  const disk = new MemoryDisk();
  const serviceCodes = Array.from({ length: 100 }, (_, number) => `code-${number}`);
  const { publish } = await startProcess(disk, { serviceCodes });
  const before = disk.writeCount;
  await Promise.all(serviceCodes.map((serviceCode) => publish(1000, serviceCode)));
  assert.equal(disk.writeCount, before + 1);
});

test('the first write of a code reads its records only if the database may have some', async () => {
  const disk = new MemoryDisk();
  const serviceCodes = ['A', 'B', 'C'];
  const first = await startProcess(disk, { serviceCodes });
  for (const serviceCode of ['A', 'B']) await first.publish(1000, serviceCode);
  disk.kill();
  disk.records.delete('B\0task\0task');
  const { publish } = await startProcess(disk, { serviceCodes });
  const readBy = async (write: () => Promise<void>): Promise<readonly string[]> => {
    disk.reads.length = 0;
    await write();
    return disk.reads;
  };
  const publishAll = async (): Promise<void> => {
    for (const serviceCode of serviceCodes) await publish(1000, serviceCode);
  };
  assert.deepEqual(await readBy(publishAll), ['B\0']);
  disk.failure = DISK_FULL;
  await publish(1000);
  disk.failure = undefined;
  // The database is opened again.
  assert.deepEqual(await readBy(publishAll), ['', 'A\0', 'B\0', 'C\0']);
  assert.deepEqual(await readBy(publishAll), []);
});

test('codes that other shards poll are dropped without a read for each', async () => {
  const disk = new MemoryDisk();
  const serviceCodes = ['A', 'B', 'C'];
  const first = await startProcess(disk, { serviceCodes });
  for (const serviceCode of serviceCodes) await first.publish(1000, serviceCode);
  disk.kill();
  disk.reads.length = 0;
  await startProcess(disk, { serviceCodes: ['A'], codesOnOtherShards: ['B', 'C'] });
  assert.deepEqual([disk.reads, disk.records.size], [['', ''], 3]);
});

test('while the disk hangs, listings are published after 100 ms, and are written when it answers', async () => {
  const disk = new MemoryDisk();
  const { store, clock, publish, messages } = await startProcess(disk);
  await publish(1000);
  const hang = deferred();
  disk.hang = hang.promise;
  for (const bytes of [1100, 1200, 1300]) {
    const published = publish(bytes, 'A', `task-${bytes}`);
    await settle();
    clock.advance(100);
    await published;
  }
  assert.equal(store.statistics.delayedPublications, 3);
  assert.deepEqual(messages().slice(1), ['warn State is written late; listings are published before']);
  hang.resolve();
  await settle();
  disk.kill();
  const second = await startProcess(disk);
  assert.deepEqual([second.tallies.get('A')?.listings, second.count()], [4, 3600]);
});

test('while writes fail, listings are published at once, and are written when the disk has room again', async () => {
  const disk = new MemoryDisk();
  const first = await startProcess(disk);
  await first.publish(1000);
  disk.failure = DISK_FULL;
  await first.publish(5, 'A', 'new');
  await first.publish(1100);
  assert.equal(first.store.statistics.writeErrors, 2);
  assert.equal(first.store.statistics.delayedPublications, 2);
  const failed = first.messages().slice(1);
  assert.deepEqual(failed.slice(0, 1), ['warn State write failed']);
  disk.failure = undefined;
  await first.publish(1200);
  assert.equal(first.messages().at(-1), 'info State is written again');
  disk.kill();
  const second = await startProcess(disk);
  assert.equal(second.count(), first.count());
  await second.publish(7, 'A', 'new');
  assert.equal(second.count(), 207);
});

test('a stop waits for a disk that hangs, and writes everything when it answers', async () => {
  const disk = new MemoryDisk();
  const first = await startProcess(disk);
  await first.publish(1000);
  const hang = deferred();
  disk.hang = hang.promise;
  void first.publish(1100);
  let isStopped = false;
  const stopped = first.store[Symbol.asyncDispose]().then(() => {
    isStopped = true;
  });
  await settle();
  assert.equal(isStopped, false);
  hang.resolve();
  await stopped;
  assert.equal((await startProcess(disk)).count(), 100);
});

test('the state of a code that is not polled is kept for seven days, unless another shard polls it', async () => {
  for (const [codesOnOtherShards, awayMs, expected] of [
    [[], RETENTION_MS - 1, 100],
    [[], RETENTION_MS, undefined],
    [['A'], 1, undefined],
  ] as const) {
    const disk = new MemoryDisk();
    const both = { serviceCodes: ['A', 'B'] };
    const first = await startProcess(disk, both);
    await first.publish(1000);
    await first.publish(1100);
    // The last listing of A.
    const atMs = 2 * STEP_MS + awayMs;
    await first.publish(1, 'B');
    await first.store[Symbol.asyncDispose]();
    const later = await startProcess(disk, { serviceCodes: ['B'], codesOnOtherShards, atMs });
    await later.store[Symbol.asyncDispose]();
    const third = await startProcess(disk, { ...both, atMs });
    assert.deepEqual([third.count('A'), third.count('B')], [expected, 0]);
  }
});

test('a code that a reload removes and another adds continues, whether its last listing is written or not', async () => {
  for (const failure of [undefined, DISK_FULL]) {
    const disk = new MemoryDisk();
    const { store, publish } = await startProcess(disk);
    await publish(1000);
    disk.failure = failure;
    await publish(1100);
    const restored = await store.restore('A', () => createDefaultTally('A'));
    assert.deepEqual(restored?.collectCounts().rows.accounts.columns.inputBytes, [100]);
  }
});

test('a code that is added while its state cannot be read starts at 0, which is logged', async () => {
  const disk = new MemoryDisk();
  const { store, messages } = await startProcess(disk);
  disk.failure = DISK_FULL;
  assert.equal(await store.restore('B', () => createDefaultTally('B')), undefined);
  assert.equal(messages().at(-1), 'warn State of service code is unusable; its counters start at 0');
});

test('a code whose records are not all there starts anew, which is logged, and others go on', async () => {
  const disk = new MemoryDisk();
  const serviceCodes = ['A', 'B'];
  const first = await startProcess(disk, { serviceCodes });
  for (const bytes of [1000, 1100]) for (const code of serviceCodes) await first.publish(bytes, code, 'old');
  disk.kill();
  disk.records.delete('A\0task\0old');
  const second = await startProcess(disk, { serviceCodes });
  assert.deepEqual([second.count('A'), second.count('B')], [undefined, 100]);
  assert.equal(second.messages()[0], 'warn State of service code is unusable; its counters start at 0');
  for (const bytes of [2000, 2200]) await second.publish(bytes, 'A', 'new');
  disk.kill();
  assert.equal((await startProcess(disk, { serviceCodes })).count('A'), 200);
});

test('a second process waits 5 s for the first one to end', async () => {
  const disk = new MemoryDisk();
  await startProcess(disk);
  const clock = new ManualClock(START_MS);
  const { logger } = createRecordingLogger();
  using folder = new TemporaryFolder();
  const options = { path: folder.path, clock, logger, open: disk.open };
  const codes = { createTally: () => undefined, codesOnOtherShards: new Set<string>() };
  const rejected = assert.rejects(
    StateStore.open(options, codes),
    /state\.path: expected a folder .*, which another process has locked; stop that process/,
  );
  for (let waitedMs = 0; waitedMs < 5000; waitedMs += 250) {
    while (clock.sleeperCount === 0) await nextTurn();
    // A kill while it waits is none while it opens the database.
    assert.deepEqual(readdirSync(folder.path), []);
    clock.advance(250);
  }
  await rejected;
});

/** Opens the state in a default folder that has a database. */
async function openDefault(failure: Error, folder: TemporaryFolder) {
  mkdirSync(folder.at('database'));
  const { logger, lines } = createRecordingLogger();
  const clock = new ManualClock(START_MS);
  const impatient = {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    sleep: (ms: number) => Promise.resolve(clock.advance(ms)),
  };
  const store = await StateStore.openDefault(
    { path: folder.path, clock: impatient, logger, open: () => Promise.reject(failure) },
    { createTally: () => undefined, codesOnOtherShards: new Set() },
  );
  return { store, warnings: lines.filter(({ level }) => level === 'warn') };
}

const WITHOUT_STATE = 'Default folder of the state cannot be used; running without state';

const SET_ASIDE = 'database.set-aside-20260101T000000000Z';

for (const [name, failure, left] of [
  ['a full disk', DISK_FULL, SET_ASIDE],
  ['a lack of permissions', new DatabaseError('unusable', 'permission denied'), SET_ASIDE],
  ['the lock of another process, whose database it is', new DatabaseError('locked', 'busy'), 'database'],
] as const)
  test(`in a default folder, ${name} is one warning, and leaves ${left}`, async () => {
    using folder = new TemporaryFolder();
    const { store, warnings } = await openDefault(failure, folder);
    assert.equal(store, undefined);
    assert.deepEqual(readdirSync(folder.path), [left]);
    assert.deepEqual(
      warnings.map(({ msg, renamed_to }) => [msg, renamed_to]),
      [[WITHOUT_STATE, left === 'database' ? undefined : folder.at(left)]],
    );
  });

test('a bug while a default folder is opened is not hidden', async () => {
  using folder = new TemporaryFolder();
  await assert.rejects(openDefault(new TypeError('a bug'), folder), /a bug/);
});
