import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { readRepositoryFile, repositoryPath } from '../../support/repository.ts';

const EXPORT = /^export (?:async |declare )*(?:class|const|enum|function\*?|interface|let|type) (\w+)/gm;

/** The program alone: the engine in AssemblyScript has names of its own. */
const sources = readdirSync(repositoryPath('src'), { recursive: true, encoding: 'utf8' }).filter(
  (path) => path.endsWith('.ts') && !path.startsWith('json-columns/assembly/'),
);

test('an exported name means one thing in src/', () => {
  const places = new Map<string, Set<string>>();
  for (const path of sources)
    for (const [, name = ''] of readRepositoryFile('src', path).matchAll(EXPORT))
      places.set(name, (places.get(name) ?? new Set()).add(path));
  assert.ok(places.size > 300, `${places.size} names`);
  // A constant and its type of one name are in one file.
  const shared = [...places].filter(([, paths]) => paths.size > 1);
  assert.deepEqual(Object.fromEntries(shared.map(([name, paths]) => [name, [...paths]])), {});
});
