import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { machineFiles } from '../../src/state/file-system.ts';
import { UnusableStateError } from '../../src/state/unusable.ts';
import { writeState } from '../../src/state/write-state.ts';
import { readState } from '../../src/state/read-state.ts';
import type { Tally } from '../../src/tally/tally.ts';
import {
  commitNext,
  diskFull,
  fileOf,
  Folder,
  hookedFiles,
  inputBytesIn,
  load,
  newTally,
  NOW_MS,
  tallyOf,
  unitsOf,
} from './keeping.ts';

const write = (path: string, tallies: Iterable<Tally>, files = machineFiles): Promise<number> =>
  writeState(files, path, tallies, NOW_MS);

/** Why a file cannot be used; `undefined` if it can. Whatever else is thrown is a mistake. */
async function reasonOf(path: string, files = machineFiles): Promise<string | undefined> {
  try {
    await load(path, files);
    return undefined;
  } catch (error) {
    if (error instanceof UnusableStateError) return error.reason;
    throw error;
  }
}

test('what is written is read again, whole, for each service code', async () => {
  using folder = new Folder();
  const path = folder.file();
  const tallies = [tallyOf('A', 3), tallyOf('B', 2000), tallyOf('C', 0)];
  const bytes = await write(path, [...tallies, newTally('UNPOLLED')]);
  assert.equal(statSync(path).size, bytes);
  const restored = await load(path);
  assert.deepEqual([...restored.tallies.keys()], ['A', 'B', 'C']);
  assert.deepEqual([...restored.tallies.values()].map(unitsOf), tallies.map(unitsOf));
  assert.deepEqual([restored.dropped, restored.createdMs], [0, NOW_MS]);
});

test('nobody but the owner may read it, and nothing else is left in the folder', async () => {
  using folder = new Folder();
  const path = folder.file();
  writeFileSync(path, 'an older one', { mode: 0o644 });
  writeFileSync(`${path}.tmp`, 'left by a process that was killed', { mode: 0o644 });
  await write(path, [tallyOf('A', 3)]);
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder.path), ['state']);
});

test('a service code that is not polled any more is dropped', async () => {
  using folder = new Folder();
  await write(folder.file(), [tallyOf('A', 3), tallyOf('GONE', 3), tallyOf('B', 3)]);
  const tallyFor = (serviceCode: string) => (serviceCode === 'GONE' ? undefined : newTally(serviceCode));
  const now = { wallMs: NOW_MS, monotonicMs: 0 };
  const { tallies, dropped } = await readState(machineFiles, folder.file(), tallyFor, now);
  assert.deepEqual([[...tallies.keys()], dropped], [['A', 'B'], 1]);
});

test('cut anywhere, or with any bit turned, it is never accepted and nothing else is thrown', async () => {
  using folder = new Folder();
  const path = folder.file();
  await write(path, [tallyOf('A', 2)]);
  const whole = readFileSync(path);
  assert.equal(await reasonOf(path), undefined);
  for (let length = 0; length < whole.length; length += 1) {
    const reason = await reasonOf(path, fileOf(whole.subarray(0, length)));
    assert.notEqual(reason, undefined, `cut at ${length} of ${whole.length}`);
  }
  for (let bit = 0; bit < 8 * whole.length; bit += 1) {
    const turned = Buffer.from(whole);
    turned[bit >> 3] = (turned[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    assert.notEqual(await reasonOf(path, fileOf(turned)), undefined, `bit ${bit} turned`);
  }
});

/** A file of some lines, with the right checksum. */
function sealed(...lines: readonly string[]): string {
  const text = lines.map((line) => `${line}\n`).join('');
  return `${text}{"sha256":"${createHash('sha256').update(text).digest('hex')}"}\n`;
}

test('a file that cannot be used is told apart: damaged, foreign, of a later exporter', async (t) => {
  const header = '{"format":"xvs-exporter state","version":1,"created":"2026-01-01T00:00:00.000Z"}';
  const code = '["code","A",0,1,0]';
  const whole = sealed(header, code);
  const table: readonly (readonly [name: string, text: string | Buffer, reason: string | undefined])[] = [
    ['a good one', whole, undefined],
    ['one of no service code', sealed(header), undefined],
    ['an empty file', '', 'damaged'],
    ['the first line alone', `${header}\n`, 'damaged'],
    ['no last line', `${header}\n${code}\n`, 'damaged'],
    ['something behind the last line', `${whole}\n`, 'damaged'],
    ['the same twice', whole + whole, 'damaged'],
    ['a right checksum over what is no JSON', sealed(header, '["code"'), 'damaged'],
    ['a right checksum over what is no unit', sealed(header, '["else"]'), 'damaged'],
    ['a right checksum over a task of no code', sealed(header, '["server","s",0]'), 'damaged'],
    ['a right checksum over a unit that does not fit', sealed(header, code, '["server","s",0]'), 'damaged'],
    ['a right checksum over a code that comes twice', sealed(header, code, code), 'damaged'],
    ['a settings file', 'upstream:\n  base_url: https://live.example.com\n', 'foreign'],
    ['other JSON', '{"format":"something else","version":1,"created":""}\n', 'foreign'],
    ['an image', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), 'foreign'],
    ['a later version', sealed(header.replace(':1,', ':2,'), 'who knows'), 'newer'],
  ];
  for (const [name, text, reason] of table) {
    await t.test(name, async () => {
      using folder = new Folder();
      writeFileSync(folder.file(), text);
      assert.equal(await reasonOf(folder.file()), reason);
    });
  }
});

const MANY = 3000;

test('listings that come while their tally is written are in the file, whole, and nothing behind it', async (t) => {
  const table: readonly (readonly [name: string, listings: number, tasks: number, bytes: number[]])[] = [
    ['one alike', 1, MANY, [2000]],
    ['so many without tasks that these are forgotten, and the file is shorter', 12, 0, []],
  ];
  for (const [name, listings, tasks, bytes] of table) {
    await t.test(name, async () => {
      using folder = new Folder();
      const [path, calm] = [folder.file(), folder.file('calm')];
      const many = tallyOf('MANY', MANY);
      const tallies = [tallyOf('BEFORE', 2), many, tallyOf('BEHIND', 2)];
      let pieces = 0;
      const files = hookedFiles(() => {
        pieces += 1;
        if (pieces !== 4) return;
        for (let number = 0; number < listings; number += 1) commitNext(many, tasks);
      });
      await write(path, tallies, files);
      await write(calm, tallies);
      assert.ok(pieces > 4, `Expected many pieces, found ${pieces}`);
      assert.deepEqual(inputBytesIn((await load(path)).tallies.get('MANY')), bytes);
      assert.deepEqual(readFileSync(path), readFileSync(calm));
    });
  }
});

test('listings that come faster than their tally can be written do not keep it from being written', async () => {
  using folder = new Folder();
  const tally = tallyOf('MANY', MANY);
  await write(
    folder.file(),
    [tally],
    hookedFiles(() => commitNext(tally, MANY)),
  );
  const bytes = inputBytesIn((await load(folder.file())).tallies.get('MANY'));
  assert.equal(bytes.length, 1);
  assert.ok((bytes[0] ?? 0) > 1000);
});

test('a file of a hundred thousand tasks is written in pieces of a few milliseconds, with turns of everything else between', async () => {
  using folder = new Folder();
  const tally = tallyOf('MANY', 100_000);
  const stops: number[] = [];
  let sinceMs = performance.now();
  const files = hookedFiles(() => {
    stops.push(performance.now() - sinceMs);
    return new Promise((resolve) => {
      setImmediate(() => {
        sinceMs = performance.now();
        resolve();
      });
    });
  });
  await write(folder.file(), [tally], files);
  assert.ok(stops.length > 100, `Expected many pieces, found ${stops.length}`);
  const median = stops.toSorted((a, b) => a - b)[stops.length >> 1] ?? 0;
  assert.ok(median < 20, `Expected less than 20 ms from piece to piece, found ${median}`);
});

test('a disk that is full at any point leaves the old file, and no other', async () => {
  using folder = new Folder();
  const path = folder.file();
  let pieces = 0;
  await write(
    path,
    [tallyOf('NEW', MANY)],
    hookedFiles(() => {
      pieces += 1;
    }),
  );
  const old = readFileSync(path);
  assert.ok(pieces > 6, `Expected many pieces, found ${pieces}`);
  for (let room = 0; room < pieces; room += 1) {
    let left = room;
    const files = hookedFiles(() => {
      if (left === 0) throw diskFull();
      left -= 1;
    });
    await assert.rejects(write(path, [tallyOf('NEW', MANY)], files), { code: 'ENOSPC' });
    assert.deepEqual(readFileSync(path), old);
    assert.deepEqual(readdirSync(folder.path), ['state']);
  }
});
