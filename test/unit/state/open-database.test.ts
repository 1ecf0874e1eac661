import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { DatabaseError } from '../../../src/state/level-database.ts';
import { openDatabase, type OpenDatabaseOptions } from '../../../src/state/open-database.ts';
import { deferred } from '../../support/deferred.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryDisk } from '../../support/memory-disk.ts';
import { createRecordingLogger } from '../../support/recording-logger.ts';
import { START_MS } from '../../support/tally-run.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

function createOptions(folder: TemporaryFolder) {
  const { logger, lines } = createRecordingLogger();
  const options = {
    path: folder.path,
    clock: new ManualClock(START_MS),
    logger,
    open: new MemoryDisk().open,
  };
  return { options, warnings: () => lines.filter(({ level }) => level === 'warn') };
}

/** Runs starts, one after the other, that a signal ends while they open the database. */
async function startAndKill(options: OpenDatabaseOptions, count: number): Promise<void> {
  for (let kill = 0; kill < count; kill += 1) {
    const opening = deferred();
    void openDatabase({
      ...options,
      open: () => {
        opening.resolve();
        return new Promise(() => undefined);
      },
    });
    await opening.promise;
  }
}

test('three starts in a row that end while they open the database do not condemn it', async () => {
  using folder = new TemporaryFolder();
  mkdirSync(folder.at('database'));
  const { options, warnings } = createOptions(folder);
  for (let round = 0; round < 3; round += 1) {
    await startAndKill(options, 3);
    const database = await openDatabase(options);
    await database.close();
  }
  assert.deepEqual([readdirSync(folder.path), warnings()], [['database'], []]);
});

/** The permissions of folders that all users can read, after a start. */
async function openReadableState(
  folder: TemporaryFolder,
  chmod?: OpenDatabaseOptions['chmod'],
): Promise<{ readonly modes: readonly string[]; readonly warnings: readonly unknown[] }> {
  const names = [
    'database',
    'database.set-aside-20260131T235959123Z',
    'database-dumps',
    'databases',
    'other',
  ];
  for (const name of names) {
    mkdirSync(folder.at(name));
    chmodSync(folder.at(name), 0o755);
  }
  const { options, warnings } = createOptions(folder);
  const database = await openDatabase({ ...options, chmod });
  await database.close();
  return {
    modes: names.map((name) => (statSync(folder.at(name)).mode & 0o777).toString(8)),
    warnings: warnings().map(({ err, msg }) => [err, msg]),
  };
}

test('the folders of the database are closed to other users, those beside them stay as they are', async () => {
  using folder = new TemporaryFolder();
  const modes = ['700', '700', '755', '755', '755'];
  assert.deepEqual(await openReadableState(folder), { modes, warnings: [] });
});

const CHMODS: readonly (readonly [code: string | undefined, chmod: () => Promise<void>])[] = [
  ...['EPERM', 'ENOSYS', 'ENOTSUP', 'EINVAL'].map(
    (code) => [code, () => Promise.reject(Object.assign(new Error(code), { code }))] as const,
  ),
  [undefined, () => Promise.resolve()],
];

for (const [code, chmod] of CHMODS)
  test(`folders that stay open to other users (${code ?? 'no error'}) are one warning, and the start goes on`, async () => {
    using folder = new TemporaryFolder();
    assert.deepEqual(await openReadableState(folder, chmod), {
      modes: Array(5).fill('755'),
      warnings: [[code && { message: code }, 'Other users may read the state; set its folders to 0700']],
    });
  });

test('a start after four of them sets the database aside, with one warning', async () => {
  using folder = new TemporaryFolder();
  mkdirSync(folder.at('database'));
  const { options, warnings } = createOptions(folder);
  await startAndKill(options, 4);
  await openDatabase(options);
  assert.match(readdirSync(folder.path).join(), /^database\.set-aside-\w+$/);
  assert.deepEqual(
    warnings().map(({ err }) => err),
    [{ message: 'The last 4 starts ended while they opened it' }],
  );
});

test('a start after four of them begins without a database that has been moved away', async () => {
  using folder = new TemporaryFolder();
  const { options } = createOptions(folder);
  await startAndKill(options, 4);
  await openDatabase(options);
  assert.deepEqual(readdirSync(folder.path), []);
});

test('a start that fails while it opens the database is none of them', async () => {
  using folder = new TemporaryFolder();
  const { options } = createOptions(folder);
  const open = () => Promise.reject(new DatabaseError('failing', 'IO error: No space left on device'));
  await assert.rejects(openDatabase({ ...options, open }), { code: 'failing' });
  assert.deepEqual(readdirSync(folder.path), []);
});

test('a FIFO in place of the number of starts is one clear error', async () => {
  using folder = new TemporaryFolder();
  execFileSync('mkfifo', [folder.at('database.opening')]);
  const { options } = createOptions(folder);
  await assert.rejects(openDatabase(options), {
    code: 'unusable',
    message: /Expected .*database\.opening to be a regular file/,
  });
});
