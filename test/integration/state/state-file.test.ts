import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { nodeFileSystem } from '../../../src/state/file-system.ts';
import { writeState } from '../../../src/state/write-state.ts';
import { UnusableStateError } from '../../../src/state/format.ts';
import type { Tally } from '../../../src/tally/tally.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';
import {
  commitNext,
  createDiskFullError,
  createInMemoryFile,
  filesWithWriteHook,
  inputBytesIn,
  loadState,
  newTally,
  NOW_MS,
  tallyOf,
  entriesOf,
  HEADER,
} from '../../unit/state/state-fixtures.ts';

const write = (path: string, tallies: Iterable<Tally>, files = nodeFileSystem): Promise<number> =>
  writeState(files, path, HEADER, tallies);

/** Returns the reason why a file is unusable; `undefined` if it is usable. Rethrows other errors. */
async function reasonOf(path: string, files = nodeFileSystem): Promise<string | undefined> {
  try {
    await loadState(path, files);
    return undefined;
  } catch (error) {
    if (error instanceof UnusableStateError) return error.reason;
    throw error;
  }
}

test('reading a file restores the written state of each service code', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  const tallies = [tallyOf('A', 3), tallyOf('B', 2000), tallyOf('C', 0)];
  const bytes = await write(path, [...tallies, newTally('UNPOLLED')]);
  assert.equal(statSync(path).size, bytes);
  const restored = await loadState(path);
  assert.deepEqual([...restored.tallies.keys()], ['A', 'B', 'C']);
  assert.deepEqual([...restored.tallies.values()].map(entriesOf), tallies.map(entriesOf));
  assert.deepEqual([restored.id, restored.journalId, restored.createdMs], ['snapshot-1', undefined, NOW_MS]);
});

test('the file is readable by its owner only, and no other file remains', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  writeFileSync(path, 'an older state', { mode: 0o644 });
  writeFileSync(`${path}.tmp`, 'left behind by a killed process', { mode: 0o644 });
  await write(path, [tallyOf('A', 3)]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder.path), ['state']);
});

test('a file truncated anywhere, or with any bit flipped, is unusable', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  await write(path, [tallyOf('A', 2)]);
  const whole = readFileSync(path);
  assert.equal(await reasonOf(path), undefined);
  for (let length = 0; length < whole.length; length += 1) {
    const reason = await reasonOf(path, createInMemoryFile(whole.subarray(0, length)));
    assert.notEqual(reason, undefined, `truncated at ${length} of ${whole.length}`);
  }
  for (let bit = 0; bit < 8 * whole.length; bit += 1) {
    const flipped = Buffer.from(whole);
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.notEqual(await reasonOf(path, createInMemoryFile(flipped)), undefined, `bit ${bit} flipped`);
  }
});

/** Lines followed by their checksum. */
function withChecksum(...lines: readonly string[]): string {
  const text = lines.map((line) => `${line}\n`).join('');
  return `${text}{"sha256":"${createHash('sha256').update(text).digest('hex')}"}\n`;
}

test('an unusable file is classified as damaged, foreign, newer or older', async (t) => {
  const header = '{"format":"xvs-exporter state","version":4,"created":"2026-01-01T00:00:00.000Z","id":"1"}';
  const code = '["code","A",0,1]';
  const whole = withChecksum(header, code);
  const table: readonly (readonly [name: string, text: string | Buffer, reason: string | undefined])[] = [
    ['a valid file', whole, undefined],
    ['no service codes', withChecksum(header), undefined],
    ['an empty file', '', 'damaged'],
    ['only the first line', `${header}\n`, 'damaged'],
    ['no checksum', `${header}\n${code}\n`, 'damaged'],
    ['a line after the checksum', `${whole}\n`, 'damaged'],
    ['the content twice', whole + whole, 'damaged'],
    ['a valid checksum of invalid JSON', withChecksum(header, '["code"'), 'damaged'],
    ['a valid checksum of an unknown entry', withChecksum(header, '["else"]'), 'damaged'],
    [
      'a valid checksum of an entry without service code',
      withChecksum(header, '["server","s",0]'),
      'damaged',
    ],
    ['a valid checksum of an inconsistent entry', withChecksum(header, code, '["server","s",1]'), 'damaged'],
    ['a valid checksum of a repeated service code', withChecksum(header, code, code), 'damaged'],
    ['a settings file', 'upstream:\n  base_url: https://live.example.com\n', 'foreign'],
    ['other JSON', '{"format":"something else","version":1,"created":""}\n', 'foreign'],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), 'foreign'],
    ['a later version', withChecksum(header.replace(':4,', ':5,'), 'anything'), 'newer'],
    ['an earlier version', withChecksum(header.replace(':4,', ':3,'), 'anything'), 'older'],
  ];
  for (const [name, text, reason] of table) {
    await t.test(name, async () => {
      using folder = new TemporaryFolder();
      writeFileSync(folder.at('state'), text);
      assert.equal(await reasonOf(folder.at('state')), reason);
    });
  }
});

const MANY = 3000;

test('the file contains complete listings that are committed during the write', async (t) => {
  const table: readonly (readonly [name: string, listings: number, tasks: number, bytes: number[]])[] = [
    ['one listing of the same size', 1, MANY, [2000]],
    ['empty listings that evict all tasks and shorten the file', 12, 0, []],
  ];
  for (const [name, listings, tasks, bytes] of table) {
    await t.test(name, async () => {
      using folder = new TemporaryFolder();
      const [path, undisturbed] = [folder.at('state'), folder.at('undisturbed')];
      const many = tallyOf('MANY', MANY);
      const tallies = [tallyOf('BEFORE', 2), many, tallyOf('AFTER', 2)];
      let writes = 0;
      const files = filesWithWriteHook(() => {
        writes += 1;
        if (writes !== 4) return;
        for (let number = 0; number < listings; number += 1) commitNext(many, tasks);
      });
      await write(path, tallies, files);
      await write(undisturbed, tallies);
      assert.ok(writes > 4, `Expected many writes, found ${writes}`);
      assert.deepEqual(inputBytesIn((await loadState(path)).tallies.get('MANY')), bytes);
      assert.deepEqual(readFileSync(path), readFileSync(undisturbed));
    });
  }
});

test('a tally is written even if listings are committed faster than it is written', async () => {
  using folder = new TemporaryFolder();
  const tally = tallyOf('MANY', MANY);
  await write(
    folder.at('state'),
    [tally],
    filesWithWriteHook(() => commitNext(tally, MANY)),
  );
  const bytes = inputBytesIn((await loadState(folder.at('state'))).tallies.get('MANY'));
  assert.equal(bytes.length, 1);
  assert.ok((bytes[0] ?? 0) > 1000);
});

test('a file of 100,000 tasks is written in chunks of about 64 KiB, and the event loop runs between them', async () => {
  using folder = new TemporaryFolder();
  const sizes: number[] = [];
  let turns = 0;
  let isWritten = false;
  const countTurn = (): void => {
    turns += 1;
    if (!isWritten) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const files = filesWithWriteHook((bytes) => {
    sizes.push(bytes);
  });
  await write(folder.at('state'), [tallyOf('MANY', 100_000)], files);
  isWritten = true;
  assert.ok(sizes.length > 100, `Expected more than 100 writes, found ${sizes.length}`);
  assert.ok(Math.max(...sizes) < 65 * 1024, `Expected writes of 64 KiB, found ${Math.max(...sizes)} bytes`);
  assert.ok(turns >= sizes.length, `Expected ${sizes.length} turns of the event loop, found ${turns}`);
});

test('if the disk is full at any write, the old file stays and no other remains', async () => {
  using folder = new TemporaryFolder();
  const path = folder.at('state');
  let writes = 0;
  await write(
    path,
    [tallyOf('NEW', MANY)],
    filesWithWriteHook(() => {
      writes += 1;
    }),
  );
  const old = readFileSync(path);
  assert.ok(writes > 6, `Expected many writes, found ${writes}`);
  for (let room = 0; room < writes; room += 1) {
    let left = room;
    const files = filesWithWriteHook(() => {
      if (left === 0) throw createDiskFullError();
      left -= 1;
    });
    await assert.rejects(write(path, [tallyOf('NEW', MANY)], files), { code: 'ENOSPC' });
    assert.deepEqual(readFileSync(path), old);
    assert.deepEqual(readdirSync(folder.path), ['state']);
  }
});
