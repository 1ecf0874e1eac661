import assert from 'node:assert/strict';
import { cpSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Database } from '../../../src/state/level-database.ts';
import { openLevelDatabase, translateErrors } from '../../../src/state/level-database.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

const BATCHES = 20;

/** Writes batches of two records that hold the number of their batch. */
async function writeBatches(database: Database): Promise<void> {
  for (let number = 1; number <= BATCHES; number += 1) {
    const batch = database.createBatch();
    for (const key of ['a', 'b']) batch.set(key, `${number}`);
    batch.set(`only in ${number - 1}`, undefined);
    batch.set(`only in ${number}`, '');
    await batch.write();
  }
}

async function readAll(database: Database, prefix = ''): Promise<Record<string, string>> {
  const records: Record<string, string> = {};
  for await (const chunk of database.read(prefix)) Object.assign(records, Object.fromEntries(chunk));
  return records;
}

/** Copies the files of an open database, like a kill. */
async function createKilledDatabase(folder: TemporaryFolder): Promise<string> {
  const database = await openLevelDatabase(folder.at('open'));
  await writeBatches(database);
  cpSync(folder.at('open'), folder.at('killed'), { recursive: true });
  await database.close();
  return folder.at('killed');
}

function copyOf(path: string): string {
  const copy = `${path}-copy`;
  rmSync(copy, { recursive: true, force: true });
  cpSync(path, copy, { recursive: true });
  return copy;
}

test('a log that is cut off anywhere holds whole batches up to the cut', async () => {
  using folder = new TemporaryFolder();
  const killed = await createKilledDatabase(folder);
  const log = readdirSync(killed).find((name) => name.endsWith('.log')) ?? assert.fail('Expected a log');
  const { size } = statSync(join(killed, log));
  const found = new Set<number>();
  for (let length = 0; length <= size; length += 13) {
    const copy = copyOf(killed);
    truncateSync(join(copy, log), length);
    const database = await openLevelDatabase(copy);
    const records = await readAll(database);
    await database.close();
    const number = Number(records['a'] ?? 0);
    const expected = number === 0 ? {} : { a: `${number}`, b: `${number}`, [`only in ${number}`]: '' };
    assert.deepEqual(records, expected, `cut at ${length} of ${size}`);
    assert.ok(number >= Math.max(0, ...found), `cut at ${length} of ${size}`);
    found.add(number);
  }
  assert.equal(found.size, BATCHES);
});

test('damage and a lock have errors of their own', async () => {
  using folder = new TemporaryFolder();
  const killed = await createKilledDatabase(folder);
  const manifest = readdirSync(killed).find((name) => name.startsWith('MANIFEST')) ?? '';
  const damages: readonly ((path: string) => void)[] = [
    (path) => writeFileSync(join(path, 'CURRENT'), ''),
    (path) => writeFileSync(join(path, manifest), 'else'),
    (path) => rmSync(join(path, manifest)),
  ];
  for (const damage of damages) {
    const copy = copyOf(killed);
    damage(copy);
    await assert.rejects(openLevelDatabase(copy), { name: 'DatabaseError', code: 'damaged' });
  }
  const first = await openLevelDatabase(killed);
  await assert.rejects(openLevelDatabase(killed), { name: 'DatabaseError', code: 'locked' });
  await first.close();
});

for (const [code, cause, message] of [
  ['unusable', 'LEVEL_IO_ERROR', 'IO error: /state/LOCK: Permission denied'],
  ['unusable', 'LEVEL_IO_ERROR', 'IO error: /state/LOCK: Read-only file system'],
  ['unusable', 'LEVEL_LOCKED', 'IO error: lock /state/LOCK: No locks available'],
  ['unusable', 'EROFS', 'EROFS: read-only file system, mkdir'],
  ['locked', 'LEVEL_LOCKED', 'IO error: lock /state/LOCK: Resource temporarily unavailable'],
  ['failing', 'LEVEL_IO_ERROR', 'IO error: /state/000003.log: No space left on device'],
  ['failing', 'LEVEL_IO_ERROR', 'IO error: /state/000003.log: Input/output error'],
  ['failing', 'ENOSPC', 'ENOSPC: no space left on device, mkdir'],
] as const)
  test(`${message} is ${code}`, async () => {
    const error = Object.assign(new Error(message), { code: cause });
    await assert.rejects(translateErrors(Promise.reject(error)), { name: 'DatabaseError', code });
  });

test('a prefix reads its own records only, and none reads all', async () => {
  using folder = new TemporaryFolder();
  const database = await openLevelDatabase(folder.at('open'));
  const batch = database.createBatch();
  const keys = ['A\0x', 'A\0\u{10ffff}', 'AB\0x', 'B\0x', '\u{10ffff}\0x', '\u{10ffff}\u{10ffff}\0x'];
  for (const key of keys) batch.set(key, '');
  await batch.write();
  for (const [prefix, expected] of [
    ['A\0', keys.slice(0, 2)],
    ['\u{10ffff}\0', keys.slice(4, 5)],
    ['', keys],
  ] as const)
    assert.deepEqual(Object.keys(await readAll(database, prefix)), expected);
  await database.close();
});
