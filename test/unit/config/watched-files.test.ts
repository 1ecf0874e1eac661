import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test, type TestContext } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { LOCAL_FILE_SYSTEM } from '../../../src/config/file-system.ts';
import { WatchedFiles, watchFiles } from '../../../src/config/watched-files.ts';
import { createFiles, type Files } from '../../support/configuration.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { TemporaryFolder } from '../../support/temporary-folder.ts';

/** A change of the file system, and whether a check detects it. */
const CHANGES: readonly [string, (folder: TemporaryFolder) => void, boolean][] = [
  ['no change', () => undefined, false],
  ['a file written in place', (folder) => writeFileSync(folder.at('codes/a.yml'), '- C'), true],
  ['a file replaced by rename', (folder) => folder.replace('codes/a.yml', '- C'), true],
  ['a file replaced by one with the same text', (folder) => folder.replace('codes/a.yml', '- A'), true],
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

for (const [name, change, expected] of CHANGES) {
  test(`a check ${expected ? 'detects' : 'ignores'} ${name}`, async () => {
    using folder = new TemporaryFolder();
    mkdirSync(folder.at('codes'));
    mkdirSync(folder.at('..1'));
    folder.replace('..1/secret', 'one');
    folder.link('..data', '..1');
    folder.link('secret', '..data/secret');
    folder.replace('codes/a.yml', '- A');
    folder.replace('codes/b.yml', '- B');
    const watched = new WatchedFiles(LOCAL_FILE_SYSTEM);
    const files = await watched.findMatchingFiles(folder.at('codes/*.yml'));
    for (const path of [...files, folder.at('secret')]) await watched.readFile(path);
    await assert.rejects(watched.readFile(folder.at('late')), { code: 'ENOENT' });
    assert.equal(await watched.check(), watched.fingerprint);
    change(folder);
    assert.equal((await watched.check()) !== watched.fingerprint, expected);
  });
}

/** Watches a file; `reloads` has the times of the reloads. */
async function startWatcher(t: TestContext) {
  const clock = new ManualClock(0);
  const contents: Record<string, Files[string]> = { '/file': 'old' };
  const load = async (): Promise<WatchedFiles> => {
    const watched = new WatchedFiles(createFiles(contents));
    await watched.readFile('/file');
    return watched;
  };
  const source = { isWatched: true, files: await load() };
  const reloads: number[] = [];
  const stop = new AbortController();
  const reason = new Error('Stopping');
  const onChange = async (): Promise<void> => {
    reloads.push(clock.now());
    source.files = await load();
  };
  const ended = assert.rejects(watchFiles(source, clock, onChange, stop.signal), reason);
  t.after(async () => {
    stop.abort(reason);
    await ended;
    assert.equal(clock.sleeperCount, 0);
  });
  const pass = async (seconds: number): Promise<void> => {
    for (let passed = 0; passed < seconds; passed += 1) {
      clock.advance(1000);
      for (let turn = 0; turn < 3; turn += 1) await nextTurn();
    }
  };
  return { contents, source, load, reloads, pass };
}

/** Writes of the file by the second, and the reloads at milliseconds. */
const WRITES: readonly [string, Readonly<Record<number, string>>, readonly number[]][] = [
  ['unchanged files are not reloaded', {}, []],
  ['a file that has not changed for one second is reloaded', { 7: 'new' }, [11_000]],
  ['a file is not reloaded while it is being written', { 4: 'n', 5: 'ne', 6: 'new' }, [8000]],
  ['a file that changes back is not reloaded', { 0: 'new', 5: 'old' }, []],
];

for (const [name, writes, expected] of WRITES) {
  test(name, async (t) => {
    const { contents, reloads, pass } = await startWatcher(t);
    for (let second = 0; second < 120; second += 1) {
      contents['/file'] = writes[second] ?? contents['/file'] ?? '';
      await pass(1);
    }
    assert.deepEqual(reloads, expected);
  });
}

test('a change that another reload has loaded is not reloaded again', async (t) => {
  const { contents, source, load, reloads, pass } = await startWatcher(t);
  contents['/file'] = 'new';
  await pass(5);
  source.files = await load();
  await pass(60);
  assert.deepEqual(reloads, []);
});

test('changes are ignored until the source is watched', async (t) => {
  const { contents, source, reloads, pass } = await startWatcher(t);
  source.isWatched = false;
  contents['/file'] = 'new';
  await pass(60);
  assert.deepEqual(reloads, []);
  source.isWatched = true;
  await pass(10);
  assert.equal(reloads.length, 1);
});

/** The names in a folder that a pattern matches. */
async function findMatches(pattern: string, names: readonly string[]): Promise<readonly string[]> {
  const files = createFiles(Object.fromEntries(names.map((name) => [`/codes/${name}`, ''])));
  return (await new WatchedFiles(files).findMatchingFiles(`/codes/${pattern}`)).map((path) => basename(path));
}

test('the * of a pattern matches any characters, but no leading dot', async () => {
  const letters = fc.string({ unit: fc.constantFrom(...'ab.'), maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      letters,
      letters,
      fc.array(letters, { maxLength: 20 }),
      async (prefix, suffix, names) => {
        const pattern = `${prefix}*${suffix}`;
        const [start, end] = [prefix, suffix].map((part) => part.replaceAll('.', String.raw`\.`));
        const expression = new RegExp(`^${prefix === '' ? String.raw`(?!\.)` : ''}${start}.*${end}$`);
        const distinct = [...new Set(['x', ...names])].filter((name) => !['', '.', '..'].includes(name));
        const expected = distinct.filter((name) => expression.test(name)).toSorted();
        assert.deepEqual(await findMatches(pattern, distinct), expected);
      },
    ),
    { numRuns: 500 },
  );
});
