import assert from 'node:assert/strict';
import { cpSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Database } from '../../../src/state/level-database.ts';
import { openLevelDatabase, translateErrors } from '../../../src/state/level-database.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

async function readAll(database: Database, prefix: string): Promise<Record<string, string>> {
  const records: Record<string, string> = {};
  for await (const chunk of database.read(prefix)) Object.assign(records, Object.fromEntries(chunk));
  return records;
}

/** Copies the files of an open database, like a kill. */
async function createKilledDatabase(folder: TemporaryFolder): Promise<string> {
  const database = await openLevelDatabase(folder.at('open'));
  const batch = database.createBatch();
  batch.set('key', 'value');
  await batch.write();
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

test('a new folder is for its user alone', async () => {
  using folder = new TemporaryFolder();
  const database = await openLevelDatabase(folder.at('new'));
  await database.close();
  assert.equal(statSync(folder.at('new')).mode & 0o777, 0o700);
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
