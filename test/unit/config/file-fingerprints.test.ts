import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { FileFingerprints } from '../../../src/config/file-fingerprints.ts';
import { LOCAL_FILE_SYSTEM } from '../../../src/config/local-file-system.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

/** Fingerprints of real files; `takeReads` returns the names of the files read since its last call. */
function createFingerprints(): {
  readonly fingerprints: FileFingerprints;
  readonly takeReads: () => readonly string[];
} {
  let read: string[] = [];
  const readFile = (path: string): Promise<string> => {
    read.push(path.slice(path.lastIndexOf('/') + 1));
    return LOCAL_FILE_SYSTEM.readFile(path);
  };
  const takeReads = (): readonly string[] => {
    const before = read.toSorted();
    read = [];
    return before;
  };
  return { fingerprints: new FileFingerprints({ ...LOCAL_FILE_SYSTEM, readFile }), takeReads };
}

/** A change of the file system, and whether the fingerprint changes. */
const CHANGES: readonly [string, (folder: TemporaryFolder) => void, boolean][] = [
  ['no change', () => undefined, false],
  ['a file written in place', (folder) => writeFileSync(folder.at('codes/a.yml'), '- C'), true],
  ['a file replaced by rename', (folder) => folder.replace('codes/a.yml', '- C'), true],
  ['a file replaced by one with the same text', (folder) => folder.replace('codes/a.yml', '- A'), false],
  ['a new file', (folder) => folder.replace('codes/c.yml', '- C'), true],
  ['a new file that does not match', (folder) => folder.replace('codes/c.txt', '- C'), false],
  ['a deleted file', (folder) => rmSync(folder.at('codes/b.yml')), true],
  ['a missing file that is created', (folder) => folder.replace('late', 'secret'), true],
  ['a deleted folder', (folder) => rmSync(folder.at('codes'), { recursive: true }), true],
  [
    'a swapped link to the folder of a secret, as in Kubernetes',
    (folder) => {
      mkdirSync(folder.at('..2'));
      folder.replace('..2/secret', 'another');
      folder.link('..data', '..2');
    },
    true,
  ],
];

for (const checks of [0, 1, 3]) {
  for (const [name, change, expected] of CHANGES) {
    test(`after ${checks} checks, the next one ${expected ? 'detects' : 'ignores'} ${name}`, async () => {
      using folder = new TemporaryFolder();
      mkdirSync(folder.at('codes'));
      mkdirSync(folder.at('..1'));
      folder.replace('..1/secret', 'one');
      folder.link('..data', '..1');
      folder.link('secret', '..data/secret');
      for (const [file, text] of [
        ['a', '- A'],
        ['b', '- B'],
      ] as const)
        folder.replace(`codes/${file}.yml`, text);
      const { fingerprints } = createFingerprints();
      const files = await fingerprints.findMatchingFiles(folder.at('codes/*.yml'));
      for (const path of [...files, folder.at('secret')]) await fingerprints.readFile(path);
      await assert.rejects(fingerprints.readFile(folder.at('late')), { code: 'ENOENT' });
      for (let check = 0; check < checks; check += 1)
        assert.equal(await fingerprints.computeFingerprint(), fingerprints.fingerprint);
      change(folder);
      assert.equal((await fingerprints.computeFingerprint()) !== fingerprints.fingerprint, expected);
    });
  }
}

test('an unchanged file is read in one more check only; a touched file is read again', async () => {
  using folder = new TemporaryFolder();
  const { fingerprints, takeReads } = createFingerprints();
  for (const name of ['a', 'b']) {
    folder.replace(name, name);
    await fingerprints.readFile(folder.at(name));
  }
  assert.deepEqual(takeReads(), ['a', 'b']);
  await fingerprints.computeFingerprint();
  assert.deepEqual(takeReads(), ['a', 'b']);
  await fingerprints.computeFingerprint();
  await fingerprints.computeFingerprint();
  assert.deepEqual(takeReads(), []);
  folder.replace('a', 'a');
  assert.equal(await fingerprints.computeFingerprint(), fingerprints.fingerprint);
  assert.deepEqual(takeReads(), ['a']);
  await fingerprints.computeFingerprint();
  await fingerprints.computeFingerprint();
  assert.deepEqual(takeReads(), ['a']);
  chmodSync(folder.at('b'), 0o600);
  await fingerprints.computeFingerprint();
  assert.deepEqual(takeReads(), ['b']);
});

test('the next check detects a second write within one tick of the file system clock', async () => {
  const state = { text: 'one' };
  const fingerprints = new FileFingerprints({
    readFile: () => Promise.resolve(state.text),
    listFolder: () => Promise.resolve([]),
    readStamp: () => Promise.resolve('the same tick'),
  });
  await fingerprints.readFile('/a');
  state.text = 'two';
  assert.notEqual(await fingerprints.computeFingerprint(), fingerprints.fingerprint);
});

test('the fingerprint is a hash of hashes', async () => {
  using folder = new TemporaryFolder();
  folder.replace('a', 'secret');
  const { fingerprints } = createFingerprints();
  await fingerprints.readFile(folder.at('a'));
  assert.match(fingerprints.fingerprint, /^[\w+/]{43}=$/);
});
