import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { machineFiles, type FileSystem } from '../../src/state/file-system.ts';
import { openState } from '../../src/state/open-state.ts';
import { writeState } from '../../src/state/write-state.ts';
import type { Tally } from '../../src/tally/tally.ts';
import { recordedLog, type LogLine } from '../poller/polling.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { diskFull, Folder, newTally, NOW_MS, tallyOf } from './keeping.ts';

const LATER_MS = NOW_MS + 90_000;

interface Opened {
  readonly tallies: ReadonlyMap<string, Tally>;
  readonly lines: readonly LogLine[];
}

async function open(path: string, files: FileSystem = machineFiles): Promise<Opened> {
  const { logger, lines } = recordedLog();
  const tallyFor = (serviceCode: string) => (serviceCode === 'GONE' ? undefined : newTally(serviceCode));
  const clock = new ManualClock(LATER_MS);
  const tallies = await openState({ path, files, clock, logger, tallyFor });
  return { tallies, lines };
}

test('a state that is there is restored, and the log says of what and how old', async () => {
  using folder = new Folder();
  const path = folder.file();
  await writeState(machineFiles, path, [tallyOf('A', 3), tallyOf('GONE', 3)], NOW_MS);
  const { tallies, lines } = await open(path);
  assert.deepEqual([...tallies.keys()], ['A']);
  const fields = { file: path, service_codes: 1, dropped_service_codes: 1, age_seconds: 90 };
  assert.deepEqual(lines, [{ level: 'info', ...fields, msg: 'State restored, counters go on' }]);
  assert.deepEqual(readdirSync(folder.path), ['state']);
});

test('a state that is not there yet is no trouble', async () => {
  using folder = new Folder();
  const { tallies, lines } = await open(folder.file());
  assert.equal(tallies.size, 0);
  assert.deepEqual(lines, [
    { level: 'info', file: folder.file(), msg: 'No state file yet, counters begin at 0' },
  ]);
  assert.deepEqual(readdirSync(folder.path), []);
});

test('one that cannot be used is set aside beside those before it, and told without what it holds', async () => {
  using folder = new Folder();
  const path = folder.file();
  for (const content of ['hunter2-is-secret', 'hunter2 again', 'and again']) {
    writeFileSync(path, content);
    const { tallies, lines } = await open(path);
    assert.equal(tallies.size, 0);
    assert.equal(lines.length, 1);
    assert.deepEqual([lines[0]?.level, lines[0]?.['reason']], ['warn', 'foreign']);
    assert.equal(readFileSync(String(lines[0]?.['set_aside']), 'utf8'), content);
    assert.doesNotMatch(JSON.stringify(lines), /hunter2/);
  }
  const aside = 'state.damaged-20260101T000130Z';
  assert.deepEqual(readdirSync(folder.path).toSorted(), [aside, `${aside}-2`, `${aside}-3`]);
});

/** A file system that cannot do something. */
function failing(call: keyof FileSystem, code: string): FileSystem {
  const fail = (): Promise<never> =>
    Promise.reject(Object.assign(new Error(`${code}: of the test`), { code }));
  return { ...machineFiles, [call]: fail };
}

test('a place that cannot be read and written is a mistake of the configuration, told in one line', async (t) => {
  using folder = new Folder();
  mkdirSync(folder.file('folder'));
  writeFileSync(folder.file('file'), '');
  const table: readonly (readonly [name: string, path: string, files: FileSystem, found: string])[] = [
    ['no folder', folder.file('none/state'), machineFiles, 'whose folder does not exist'],
    ['a file for a folder', folder.file('file/state'), machineFiles, 'whose folder does not exist'],
    ['a folder for a file', folder.file('folder'), machineFiles, 'which is no file'],
    ['a device for a file', '/dev/null', machineFiles, 'which is no file'],
    ['a folder of others', folder.file(), failing('open', 'EACCES'), 'which this user may not read or write'],
    ['a read-only folder', folder.file(), failing('open', 'EROFS'), 'which is on a read-only file system'],
    ['a disk that is broken', folder.file('file'), failing('stat', 'EIO'), 'which gives EIO'],
  ];
  for (const [name, path, files, found] of table) {
    await t.test(name, async () => {
      const message = `state.file: expected a file to read and write, found ${JSON.stringify(path)}, ${found}`;
      await assert.rejects(open(path, files), { message });
    });
  }
  assert.deepEqual(readdirSync(folder.path).toSorted(), ['file', 'folder']);
});

test('a disk that is full does not keep the exporter from starting, with what there is', async () => {
  using folder = new Folder();
  const path = folder.file();
  await writeState(machineFiles, path, [tallyOf('A', 3)], NOW_MS);
  const files: FileSystem = {
    ...machineFiles,
    open: (name, flags, mode) =>
      flags === 'wx' ? Promise.reject(diskFull()) : machineFiles.open(name, flags, mode),
  };
  assert.deepEqual([...(await open(path, files)).tallies.keys()], ['A']);
});
