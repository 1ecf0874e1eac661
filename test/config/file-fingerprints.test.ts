import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { FileNotes } from '../../src/config/file-notes.ts';
import { MACHINE_FILES } from '../../src/config/machine-files.ts';
import { TemporaryFolder } from '../support/temporary-folder.ts';

/** Notes of real files, and which of them were read since the last time that was asked. */
function noting(): { readonly notes: FileNotes; readonly taken: () => readonly string[] } {
  let read: string[] = [];
  const readFile = (path: string): Promise<string> => {
    read.push(path.slice(path.lastIndexOf('/') + 1));
    return MACHINE_FILES.readFile(path);
  };
  const taken = (): readonly string[] => {
    const before = read.toSorted();
    read = [];
    return before;
  };
  return { notes: new FileNotes({ ...MACHINE_FILES, readFile }), taken };
}

/** What happens to the folder `codes` and what it holds, and whether that is something new. */
const CHANGES: readonly [string, (folder: TemporaryFolder) => void, boolean][] = [
  ['nothing', () => undefined, false],
  ['a file written in place', (folder) => writeFileSync(folder.at('codes/a.yml'), '- C'), true],
  ['a file replaced by rename', (folder) => folder.replace('codes/a.yml', '- C'), true],
  ['a file replaced by one with the same text', (folder) => folder.replace('codes/a.yml', '- A'), false],
  ['a file that comes', (folder) => folder.replace('codes/c.yml', '- C'), true],
  ['a file that comes and matches nothing', (folder) => folder.replace('codes/c.txt', '- C'), false],
  ['a file that goes', (folder) => rmSync(folder.at('codes/b.yml')), true],
  ['a file that was missing and comes', (folder) => folder.replace('late', 'secret'), true],
  ['the folder gone', (folder) => rmSync(folder.at('codes'), { recursive: true }), true],
  [
    'the link to the folder of a secret turned, as Kubernetes does',
    (folder) => {
      mkdirSync(folder.at('..2'));
      folder.replace('..2/secret', 'another');
      folder.link('..data', '..2');
    },
    true,
  ],
];

for (const looks of [0, 1, 3]) {
  for (const [name, change, expected] of CHANGES) {
    test(`after ${looks} looks, a look tells ${expected ? 'of' : 'nothing of'} ${name}`, async () => {
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
      const { notes } = noting();
      const files = await notes.filesMatching(folder.at('codes/*.yml'));
      for (const path of [...files, folder.at('secret')]) await notes.readFile(path);
      await assert.rejects(notes.readFile(folder.at('late')), { code: 'ENOENT' });
      for (let look = 0; look < looks; look += 1) assert.equal(await notes.look(), notes.fingerprint);
      change(folder);
      assert.equal((await notes.look()) !== notes.fingerprint, expected);
    });
  }
}

test('what stands still is read at one look more, and then no more; what was touched is read again', async () => {
  using folder = new TemporaryFolder();
  const { notes, taken } = noting();
  for (const name of ['a', 'b']) {
    folder.replace(name, name);
    await notes.readFile(folder.at(name));
  }
  assert.deepEqual(taken(), ['a', 'b']);
  await notes.look();
  assert.deepEqual(taken(), ['a', 'b']);
  await notes.look();
  await notes.look();
  assert.deepEqual(taken(), []);
  folder.replace('a', 'a');
  assert.equal(await notes.look(), notes.fingerprint);
  assert.deepEqual(taken(), ['a']);
  await notes.look();
  await notes.look();
  assert.deepEqual(taken(), ['a']);
  chmodSync(folder.at('b'), 0o600);
  await notes.look();
  assert.deepEqual(taken(), ['b']);
});

test('two writes that the clock of the file system does not tell apart are told apart at the next look', async () => {
  const state = { text: 'one' };
  const notes = new FileNotes({
    readFile: () => Promise.resolve(state.text),
    listFolder: () => Promise.resolve([]),
    stampOf: () => Promise.resolve('the same tick'),
  });
  await notes.readFile('/a');
  state.text = 'two';
  assert.notEqual(await notes.look(), notes.fingerprint);
});

test('the fingerprint is a hash of hashes', async () => {
  using folder = new TemporaryFolder();
  folder.replace('a', 'secret');
  const { notes } = noting();
  await notes.readFile(folder.at('a'));
  assert.match(notes.fingerprint, /^[\w+/]{43}=$/);
});
