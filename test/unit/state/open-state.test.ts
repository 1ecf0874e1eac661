import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { nodeFileSystem, type FileSystem } from '../../../src/state/file-system.ts';
import { JournalFile } from '../../../src/state/journal-file.ts';
import { openState } from '../../../src/state/open-state.ts';
import { writeState } from '../../../src/state/write-state.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { createRecordingLogger, type LogLine } from '../../support/recording-logger.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import { createDiskFullError, HEADER, newTally, NOW_MS, tallyOf } from './state-fixtures.ts';

const LATER_MS = NOW_MS + 90_000;

interface OpenedState {
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly lines: readonly LogLine[];
}

async function open(path: string, files: FileSystem = nodeFileSystem): Promise<OpenedState> {
  const { logger, lines } = createRecordingLogger();
  const createTally = (serviceCode: string) => (serviceCode === 'GONE' ? undefined : newTally(serviceCode));
  const clock = new ManualClock(LATER_MS);
  const { tallies } = await openState({ path, files, clock, logger, createTally });
  return { tallies, lines };
}

test('a state file is restored, and the log reports its service codes and its age', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await writeState(nodeFileSystem, path, HEADER, [tallyOf('A', 3), tallyOf('GONE', 3)]);
  const journal = await JournalFile.create(nodeFileSystem, `${path}.journal`, HEADER.id, NOW_MS);
  await journal.replace();
  await journal.close();
  const { tallies, lines } = await open(path);
  assert.deepEqual([...tallies.keys()], ['A']);
  const fields = {
    file: path,
    service_codes: 1,
    unconfigured_service_codes: 1,
    age_seconds: 90,
    journal_records: 0,
  };
  assert.deepEqual(lines, [{ level: 'info', ...fields, msg: 'State restored' }]);
  assert.deepEqual(readdirSync(folder.path), ['state', 'state.journal']);
});

test('counters start at 0 without a state file', async () => {
  using folder = new TemporaryFolder();
  const { tallies, lines } = await open(folder.at('state'));
  assert.equal(tallies.size, 0);
  assert.deepEqual(lines, [
    { level: 'info', file: folder.at('state'), msg: 'State file not found; counters start at 0' },
  ]);
  assert.deepEqual(readdirSync(folder.path), []);
});

test('an unusable file is renamed to an unused name, and its content is not logged', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  for (const content of ['hunter2-is-secret', 'hunter2 again', 'and again']) {
    writeFileSync(path, content);
    const { tallies, lines } = await open(path);
    assert.equal(tallies.size, 0);
    assert.equal(lines.length, 1);
    assert.deepEqual([lines[0]?.level, lines[0]?.['reason']], ['warn', 'foreign']);
    assert.equal(readFileSync(String(lines[0]?.['renamed_to']), 'utf8'), content);
    assert.doesNotMatch(JSON.stringify(lines), /hunter2/);
  }
  const renamed = 'state.damaged-20260101T000130Z';
  assert.deepEqual(readdirSync(folder.path).toSorted(), [renamed, `${renamed}-2`, `${renamed}-3`]);
});

/** A file system in which one operation fails. */
function failing(operation: keyof FileSystem, code: string): FileSystem {
  const fail = (): Promise<never> => Promise.reject(Object.assign(new Error(`${code}: injected`), { code }));
  return { ...nodeFileSystem, [operation]: fail };
}

test('a path without read and write access is reported in one line that names the setting', async (t) => {
  using folder = new TemporaryFolder();
  mkdirSync(folder.at('folder'));
  writeFileSync(folder.at('file'), '');
  const table: readonly (readonly [name: string, path: string, files: FileSystem, found: string])[] = [
    ['a missing directory', folder.at('none/state'), nodeFileSystem, 'in a directory that does not exist'],
    ['a file as directory', folder.at('file/state'), nodeFileSystem, 'in a directory that does not exist'],
    ['a directory as file', folder.at('folder'), nodeFileSystem, 'which is not a regular file'],
    ['a device as file', '/dev/null', nodeFileSystem, 'which is not a regular file'],
    [
      'missing permission',
      folder.at('state'),
      failing('open', 'EACCES'),
      'which this user may not read or write',
    ],
    [
      'a read-only file system',
      folder.at('state'),
      failing('open', 'EROFS'),
      'which is on a read-only file system',
    ],
    ['a broken disk', folder.at('file'), failing('stat', 'EIO'), 'which fails with EIO'],
  ];
  for (const [name, path, files, found] of table) {
    await t.test(name, async () => {
      const message = `state.file: expected a file to read and write, found ${JSON.stringify(path)}, ${found}`;
      await assert.rejects(open(path, files), { message });
    });
  }
  assert.deepEqual(readdirSync(folder.path).toSorted(), ['file', 'folder']);
});

test('on a full disk, the state is restored and the exporter starts', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await writeState(nodeFileSystem, path, HEADER, [tallyOf('A', 3)]);
  const files: FileSystem = {
    ...nodeFileSystem,
    open: (name, flags, mode) =>
      flags === 'wx' ? Promise.reject(createDiskFullError()) : nodeFileSystem.open(name, flags, mode),
  };
  assert.deepEqual([...(await open(path, files)).tallies.keys()], ['A']);
});
